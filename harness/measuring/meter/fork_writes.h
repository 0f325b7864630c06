#pragma once

#include <cstddef>
#include <cstdint>

#include "meter/sample_block.h"
#include "os/page.h"

namespace zerotax {

/// The actions around the steps of fork_and_write. The base class only performs the steps.
class ForkSteps {
 public:
  ForkSteps() = default;
  ForkSteps(const ForkSteps&) = delete;
  ForkSteps& operator=(const ForkSteps&) = delete;
  virtual ~ForkSteps() = default;

  virtual void before_fork(const AddressRange& /*block*/) {}
  virtual void after_fork() {}  ///< called in the parent
  virtual void child_begins() {}
  /// Makes the first writes of the calling process to these pages, and records them in the process's `sample`.
  virtual void write(const AddressRange& block, std::size_t pages, WriteSample& sample);
  virtual void before_exit() {}  ///< called in the parent, before the child exits
  virtual void after_exit() {}
};

/// Records times, and minor faults of the writes.
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

/// Forks. The child writes one byte to each page of the block's first quarter. The parent then writes one byte to each
/// page of the block's first half (both rounded up) while the child lives. Then the child exits. If the block is
/// populated, the child copies a quarter of the block. The parent reuses that quarter without copying, and copies
/// another quarter. Returns nullptr, or the reason for a failure as a static text. `sample` must be memory that both
/// processes share. Allocates nothing.
const char* fork_and_write(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample);

/// Returns an address that a program may write to, in page number `page` of a block. The address never lies in a header
/// before the block. A timed loop should query the page size only once and pass it as `bytes`.
inline volatile unsigned char* byte_in_page(const AddressRange& block, std::size_t page,
                                            std::size_t bytes = page_bytes()) {
  const std::uintptr_t first = (block.begin & ~(bytes - 1)) + page * bytes;
  return reinterpret_cast<volatile unsigned char*>(first < block.begin ? block.begin : first);
}

}  // namespace zerotax
