#pragma once

#include <cstddef>

#include "meter/sample_block.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/syscall_trap.h"

namespace zerotax {

/// A fixed-capacity list of address ranges in any order, for use in a signal handler. A range beyond kCapacity is lost,
/// and full() then returns true.
class FewRanges {
 public:
  static constexpr std::size_t kCapacity = 256;

  void clear() {
    size_ = 0;
    full_ = false;
  }
  void add(AddressRange range) {
    if (range.bytes() == 0) return;
    // Merges the range with the last one if the two are adjacent. This happens when a heap grows step by step, or when
    // pages are returned one by one.
    if (size_ > 0 && ranges_[size_ - 1].end == range.begin) {
      ranges_[size_ - 1].end = range.end;
    } else if (size_ < kCapacity) {
      ranges_[size_++] = range;
    } else {
      full_ = true;
    }
  }
  [[nodiscard]] bool contains(std::uintptr_t address) const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (address >= ranges_[i].begin && address < ranges_[i].end) return true;
    }
    return false;
  }
  [[nodiscard]] const AddressRange* begin() const { return &ranges_[0]; }
  [[nodiscard]] const AddressRange* end() const { return &ranges_[size_]; }
  [[nodiscard]] bool full() const { return full_; }

 private:
  AddressRange ranges_[kCapacity];
  std::size_t size_ = 0;
  bool full_ = false;
};

/// Adds up the pages of one block that were filled with zeros, as far as the pages alone show this. A page that the
/// block shares with a header or another block proves nothing alone, because other code may have written to the page. A
/// shared page counts if the next page inside the block was filled.
class FilledPages {
 public:
  explicit FilledPages(AddressRange block = {});

  /// Adds bytes that were filled in the block's part of a page. `dirty` means that the bytes were not zero before.
  void add(AddressRange part, std::size_t bytes, bool dirty);

  struct Bytes {
    std::size_t all = 0;
    std::size_t dirty = 0;  ///< bytes that were not zero before
  };
  [[nodiscard]] Bytes total() const;

  /// Whether bytes were filled only on pages that the block shares with neighbors, because the block has no page of its
  /// own. The bytes may then belong to the block or to its neighbors.
  [[nodiscard]] bool is_doubtful() const;
  /// Whether the block has no page of its own.
  [[nodiscard]] bool has_no_page() const { return whole_.bytes() == 0; }

 private:
  AddressRange whole_;  ///< the pages that only the block uses
  Bytes inside_;
  Bytes head_;
  Bytes tail_;
  bool first_filled_ = false;
  bool last_filled_ = false;
};

/// Tracks the pages that the kernel gave and took back in the private anonymous memory of the whole process, in the
/// audit pass. Pages of files are not zeroed, and pages of shared memory make the metrics n/a. PageAccount computes
/// kernel-zeroed, refilled and returned bytes of each operation, and the zero-page faults of its reads. The populated
/// pages are listed after each step of an operation (an allocation, a touch, a free). Pages that a step both populates
/// and returns are seen at the system call that removes them. docs/method.md, "Refilled and returned bytes".
class PageAccount {
 public:
  PageAccount(const Pagemap& pagemap, SampleBlock& samples) : pagemap_(pagemap), samples_(samples) {}

  /// Called at the start of each operation. At the first operation, lists the pages that exist.
  void begin_operation(OpSample& op);
  /// Called before a system call removes or moves these pages, if any.
  void before_call(const SystemCall& call, AddressRange going);
  /// Called after the system call that was passed to before_call(). `moved` is where mremap put the pages.
  void after_call(bool failed, AddressRange moved);
  /// Called at the end of a step. `followed` says whether all system calls during the step were seen.
  void end_step(bool followed);
  /// Marks the step that just ended as partly unknown.
  void forget_step() { unseen_ = true; }
  /// Returns how many bytes the last step populated, whether or not these bytes are still populated.
  [[nodiscard]] std::int64_t new_bytes() const { return new_bytes_; }
  /// Computes refilled bytes after all steps.
  void end_operation();

  /// Makes all later metrics n/a with the reason `why`.
  void give_up(const char* why);

 private:
  bool list_populated();
  [[nodiscard]] std::int64_t populated_bytes(AddressRange range) const;
  [[nodiscard]] bool is_watched() const { return samples_.na_pages[0] == '\0'; }

  const Pagemap& pagemap_;
  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  bool listed_ = false;
  bool unseen_ = false;             ///< whether pages may have been populated or returned unseen in this operation
  bool shared_ = false;             ///< whether pages of shared memory were populated or returned in this operation
  std::int64_t shared_before_ = 0;  ///< populated bytes of shared memory after the last step
  std::int64_t shared_now_ = 0;
  bool shared_gone_ = false;  ///< whether pages of shared memory were about to be removed
  std::int64_t new_bytes_ = 0;
  std::int64_t gone_new_bytes_ = 0;  ///< bytes that were populated and removed again in this step
  RangeList lists_[2];               ///< populated pages after the last step, and now
  RangeList* before_ = &lists_[0];
  RangeList* now_ = &lists_[1];
  FewRanges gone_;  ///< pages that system calls removed in this step
  RangeList going_list_;
  std::int64_t peak_ = 0;         ///< peak of the process's populated bytes so far
  std::int64_t peak_before_ = 0;  ///< peak before the operation
  // State of the current system call.
  AddressRange going_;
  AddressRange cut_;              ///< the part of going_ that is removed
  std::int64_t going_bytes_ = 0;  ///< populated bytes of `going_`
  std::int64_t going_new_ = 0;    ///< bytes of `going_` that were populated within this step
  std::int64_t OpSample::*mechanism_ = nullptr;
};

/// Returns the range of all possible mappings of user space.
AddressRange user_space();

/// Lists the populated pages of all mappings. Returns false if the kernel refuses. Also returns false if the kernel
/// answers only page by page, and too much memory is mapped for that.
bool populated_pages(const Pagemap& pagemap, RangeList& populated);

/// Returns the bytes of all ranges.
std::int64_t bytes_of(const RangeList& ranges);

/// Returns the bytes of `one` that are not in `other`.
std::int64_t bytes_beyond(const RangeList& one, const RangeList& other);

}  // namespace zerotax
