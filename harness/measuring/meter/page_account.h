#pragma once

#include <cstddef>

#include "meter/sample_block.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/undispatched.h"

namespace zerotax {

/// Address ranges in any order, in place: what a handler of a signal may keep. A range beyond kCapacity is lost, and
/// full() says so.
class FewRanges {
 public:
  static constexpr std::size_t kCapacity = 256;

  void clear() {
    size_ = 0;
    full_ = false;
  }
  void add(AddressRange range) {
    if (range.bytes() == 0) return;
    // A heap that grows step by step, or pages given back one by one.
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

/// Adds up the pages of one block that were filled with zeros by stores that only the pages reveal. A page that the
/// block shares with a header or another block proves nothing by itself, for somebody else may have written there: it
/// counts when the page next to it, inside the block, was filled.
class FilledPages {
 public:
  explicit FilledPages(AddressRange block = {});

  /// The bytes that were filled in the part of the block on one page; `dirty`: over something other than zeros.
  void add(AddressRange part, std::size_t bytes, bool dirty);

  struct Bytes {
    std::size_t all = 0;
    std::size_t dirty = 0;  ///< of them, not zero before
  };
  [[nodiscard]] Bytes total() const;

  /// Whether bytes were filled, but only on pages shared with neighbours, because the block has no page of its own: the
  /// bytes may be the block's or its neighbours'.
  [[nodiscard]] bool is_doubtful() const;
  /// Whether the block has no page of its own.
  [[nodiscard]] bool has_no_page() const { return whole_.bytes() == 0; }

 private:
  AddressRange whole_;  ///< the pages that are the block's own
  Bytes inside_;
  Bytes head_;
  Bytes tail_;
  bool first_filled_ = false;
  bool last_filled_ = false;
};

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
