#pragma once

#include <cstddef>
#include <cstdint>

#include "meter/sample_block.h"
#include "os/page.h"

namespace zerotax {

/// What is done around the steps of fork_and_write; this one does nothing but the steps.
class ForkSteps {
 public:
  ForkSteps() = default;
  ForkSteps(const ForkSteps&) = delete;
  ForkSteps& operator=(const ForkSteps&) = delete;
  virtual ~ForkSteps() = default;

  virtual void before_fork(const AddressRange& /*block*/) {}
  virtual void after_fork() {}  ///< in the parent
  virtual void child_begins() {}
  /// The first writes of the calling process to these pages. `sample` is of that process.
  virtual void write(const AddressRange& block, std::size_t pages, WriteSample& sample);
  virtual void before_exit() {}  ///< of the child; in the parent
  virtual void after_exit() {}
};

/// Clocks, and minor faults around the writes.
class TimedForkSteps final : public ForkSteps {
 public:
  explicit TimedForkSteps(ForkSample& sample) : sample_(sample) {}
  void before_fork(const AddressRange& block) override;
  void after_fork() override;
  void child_begins() override;
  void write(const AddressRange& block, std::size_t pages, WriteSample& sample) override;
  void before_exit() override;
  void after_exit() override;

 private:
  ForkSample& sample_;
  std::int64_t start_ = 0;
};

/// Forks. The child writes one byte to each page of the block's first quarter, then the parent to each page of its
/// first half (both rounded up) while the child lives, then the child exits. So of a block that is populated the child
/// copies a quarter, and the parent has one quarter back that it shares with nobody and copies another. Returns
/// nullptr, or why it failed: a text that stays. `sample` must be memory that both processes share. Allocates nothing.
const char* fork_and_write(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample);

/// The address in page number `page` of a block that a program may write to: a header before the block is left alone.
/// A loop that is timed asks once for the bytes of a page.
inline volatile unsigned char* byte_in_page(const AddressRange& block, std::size_t page,
                                            std::size_t bytes = page_bytes()) {
  const std::uintptr_t first = (block.begin & ~(bytes - 1)) + page * bytes;
  return reinterpret_cast<volatile unsigned char*>(first < block.begin ? block.begin : first);
}

}  // namespace zerotax
