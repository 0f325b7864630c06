#pragma once

#include "meter/few_ranges.h"
#include "meter/sample_block.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/undispatched.h"

namespace zerotax {

/// What the kernel gave and took back, page by page, in the private anonymous memory of the whole process (audit pass;
/// pages of files are not zeroed, and those of shared memory make the figures n/a): kernel-zeroed, refilled and
/// returned bytes of each operation, and the zero-page faults of its reads. The populated pages are listed after each
/// step of an operation (an allocation, a touch, a free); what a step populates and returns within itself is seen at
/// the system call that takes it away. docs/method.md, "Refilled and returned bytes".
class PageAccount {
 public:
  PageAccount(const Pagemap& pagemap, SampleBlock& samples) : pagemap_(pagemap), samples_(samples) {}

  /// At the start of each operation; the first lists what is there.
  void begin_operation(OpSample& op);
  /// A system call is about to take these pages away (may be none), or to move them.
  void before_call(const SystemCall& call, AddressRange going);
  /// It failed, or it did. `moved`: where mremap put the pages.
  void after_call(bool failed, AddressRange moved);
  /// The step is over. `followed`: whether all of its system calls were seen.
  void end_step(bool followed);
  /// Something of the step that is over cannot be known.
  void forget_step() { unseen_ = true; }
  /// Bytes that the last step populated, whether or not they are still there.
  [[nodiscard]] std::int64_t new_bytes() const { return new_bytes_; }
  /// Refilled bytes, once all steps were made.
  void end_operation();

  /// Why nothing is known, from now on.
  void give_up(const char* why);

 private:
  bool list_populated();
  [[nodiscard]] std::int64_t populated_bytes(AddressRange range) const;
  [[nodiscard]] bool is_watched() const { return samples_.na_pages[0] == '\0'; }

  const Pagemap& pagemap_;
  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  bool listed_ = false;
  bool unseen_ = false;             ///< some page of this operation may have come or gone unseen
  bool shared_ = false;             ///< pages of shared memory came or went in it
  std::int64_t shared_before_ = 0;  ///< populated bytes of shared memory: after the last step
  std::int64_t shared_now_ = 0;
  bool shared_gone_ = false;  ///< some were about to go
  std::int64_t new_bytes_ = 0;
  std::int64_t gone_new_bytes_ = 0;  ///< of this step
  RangeList lists_[2];               ///< populated pages: after the last step, and now
  RangeList* before_ = &lists_[0];
  RangeList* now_ = &lists_[1];
  FewRanges gone_;  ///< pages that system calls of this step took away
  RangeList going_list_;
  std::int64_t peak_ = 0;         ///< populated bytes of the process, at most so far
  std::int64_t peak_before_ = 0;  ///< the operation
  // Of the system call that is going on.
  AddressRange going_;
  AddressRange cut_;              ///< the part of going_ that does not stay
  std::int64_t going_bytes_ = 0;  ///< populated
  std::int64_t going_new_ = 0;    ///< of them, populated within this step
  std::int64_t OpSample::*mechanism_ = nullptr;
};

/// Every mapping of user space.
AddressRange user_space();

/// The populated pages of all mappings. False if the kernel refused, or if it must be asked page by page and too much
/// is mapped.
bool populated_pages(const Pagemap& pagemap, RangeList& populated);

/// Bytes of all ranges.
std::int64_t bytes_of(const RangeList& ranges);

/// Bytes of `one` that are not in `other`.
std::int64_t bytes_beyond(const RangeList& one, const RangeList& other);

}  // namespace zerotax
