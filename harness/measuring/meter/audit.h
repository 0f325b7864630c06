#pragma once

#include "meter/memory_call.h"
#include "meter/meter.h"
#include "meter/page_account.h"
#include "meter/zeroing_hook.h"
#include "os/address_space.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/syscall_counter.h"
#include "os/write_tracker.h"

namespace zerotax {

/// The audit pass. Finds how many bytes calloc and free overwrote with zeros, and how many of these bytes were already
/// zero. Also finds which system calls calloc and free made, and whether the block is all zero. docs/method.md
/// describes each metric. The pass is slow, and its times are meaningless. Both calls share the code in audit.cc. The
/// code for calloc and memset is in audit_calloc.cc, and the code for free and system calls is in audit_kernel.cc.
class AuditMeter final : public Meter, private ZeroingHook::Listener, private SyscallCounter::Observer {
 public:
  explicit AuditMeter(SampleBlock& samples);

  void* allocate(std::size_t bytes) override;
  void touch(void* block, std::size_t bytes, double fraction) override;
  void read(void* block, std::size_t bytes, double fraction) override;
  void release(void* block) override;
  void begin_operation(OpSample& op) override;
  void end_operation() override;

 private:
  void before_zeroing(void* target, std::size_t bytes) override;
  void after_zeroing(void* target, std::size_t bytes) override;
  void before_call(const SystemCall& call) override;
  void after_call(const SystemCall& call, long result) override;

  /// Call these two functions around the allocator's own call.
  void begin_call(bool in_free);
  void end_call(SyscallTally& tally);
  void give_up_counting(const char* why);

  // Functions for calloc, which compare the memory before and after the call. Stores by memset are counted when they
  // are made. look_before_calloc() finds the populated pages of the whole process, and the dirty pages of earlier
  // blocks.
  void look_before_calloc();
  void look_after_calloc(AddressRange block);
  template <typename Touch>
  void look_at_touch(const void* block, std::size_t bytes, const Touch& touch);
  void count_populated(AddressRange block);
  void doubt_shared_pages(AddressRange block);
  void note_place(AddressRange block);
  void remember_block(AddressRange block);

  // Functions for free, which compare only the block's pages. Pages may disappear during the call, so each page is
  // inspected before it can disappear.
  AddressRange take_live(const void* block);
  void look_before_free();
  void look_after_free();
  void count_before_they_go(AddressRange pages);
  void count_zeros_of(AddressRange pages);

  // Functions for memset, whose stores are known. If memset writes only a part of a page, stores to the rest of the
  // page are watched.
  template <typename Visit>
  static void for_each_partial_page(AddressRange range, Visit visit);
  void note_stores_beside(std::uintptr_t page);
  std::size_t dirty_bytes_of(AddressRange range);
  [[nodiscard]] std::size_t covered_by_memset(AddressRange part) const;
  void remember_store(AddressRange range);
  void look_for_late_zeros();

  // Functions for system calls that change pages.
  void look_before_populating(AddressRange target);
  void watch_what_was_populated(const SystemCall& call, long result);
  void watch_run(AddressRange run);
  void note_zeros_that_go(AddressRange pages);
  void note_unfollowed(const SystemCall& plain, const SystemCall& call, long result);

  /// Whether the call wrote to a populated page of the block that reads as zero; kUnknown if nothing shows it.
  enum class Store { kNone, kZeros, kZerosOverDirty, kUnknown };
  /// `by_memset` means that a memset wrote a part of the page. The result then concerns the rest of the page.
  Store store_to(std::uintptr_t page, bool by_memset);
  Store store_to_old(std::uintptr_t page, bool stored);
  Store store_to_new(bool by_memset, bool stored);
  Store doubt(const char* why);
  /// `bytes` is the number of bytes of `part` that no memset wrote.
  void count(Store store, AddressRange part, std::size_t bytes);
  /// Adds the bytes that were found page by page to the operation.
  void add_filled();
  /// Returns why another thread may have stored the zeros in the pages found, or nullptr if this thread must have done
  /// so.
  [[nodiscard]] const char* why_not_own_stores() const;
  /// Checks whether pages may have been zeroed and removed within the call, so that no page is left to inspect.
  void doubt_what_is_gone();
  /// The members of `op_` to which the current calloc or free adds.
  struct Zeros {
    std::int64_t& all;
    std::int64_t& redundant;
    std::uint32_t& methods;
  };
  [[nodiscard]] Zeros zeros() const;
  /// Finds the state of these pages now: populated, readable, watched, written.
  bool look_at(AddressRange pages);
  [[nodiscard]] bool inline_watched() const { return samples_.na_inline[0] == '\0'; }

  /// Makes the zeroed bytes unknown, because some may have been zeroed unseen.
  void forget_zeroed_bytes(const char* why);

  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  Pagemap pagemap_{Pagemap::Sharing::kNever};
  PageAccount account_{pagemap_, samples_};
  WriteTracker tracker_;
  bool count_syscalls_ = false;
  bool unseen_ = false;  ///< some bytes that calloc zeroed in this operation may have gone unseen
  bool unseen_in_free_ = false;

  // State of the current call.
  bool in_free_ = false;
  AddressRange block_;
  FilledPages filled_;
  std::size_t claims_ = 0;         ///< pages whose first store took a fault of this thread, if this thread made the
                                   ///< store
  std::size_t memset_beside_ = 0;  ///< pages of which a memset wrote a part, while stores to the rest are unknown
  bool followed_ = false;          ///< whether all system calls made within the allocator's call were seen
  Unfollowed unfollowed_ = Unfollowed::kNothing;
  bool has_twin_ = false;           ///< whether another process shared the memory when the operation began
  bool huge_pages_ = false;         ///< whether the process may have had huge pages since its first call
  const char* doubt_ = "";          ///< why it is unknown whether a page was written to
  std::int64_t faults_ = 0;         ///< faults of this thread: the count before the call, then during the call
  std::int64_t all_faults_ = 0;     ///< faults of all threads: the count before the call, then during the call
  std::int64_t memset_faults_ = 0;  ///< faults of this thread during calls to memset
  std::int64_t memset_began_ = 0;   ///< faults of this thread before the last call to memset
  std::int64_t others_ns_ = 0;      ///< CPU time of the other threads during the call
  bool others_drop_ = false;        ///< whether another thread may have returned pages that this thread populated again
  bool alone_ = false;              ///< whether no other thread or process shared the memory at the end of the call
  std::uintptr_t heap_end_ = 0;
  FewRanges dropped_;    ///< pages that the call removed
  FewRanges hidden_;     ///< pages inspected before the call made them inaccessible, or allowed the kernel to take them
                         ///< later
  FewRanges populated_;  ///< pages that the kernel populated because the call requested it
  FewRanges new_;        ///< pages of `populated_` that were not populated just before
  FewRanges stored_;     ///< pages that were stored to before a memset wrote a part of them
  FewRanges unsure_;     ///< pages for which it is unknown whether they belong in `stored_`
  FewRanges lost_;       ///< pages that were zeroed, and then removed
  FewRanges moved_;      ///< pages that mremap moved

  RangeList populated_before_;
  RangeList dirty_before_;
  RangeList watched_;
  RangeList written_;
  RangeList populated_after_;
  RangeList readable_;
  AddressRange zero_filled_;  ///< a mapping of private anonymous memory, found since the last system call
  RangeList anonymous_;       ///< readable pages in private anonymous mappings
  RangeList scratch_;
  RangeList opened_dirty_;  ///< pages that were not zero when the call made them writable
  // State before a system call that may populate pages or make them accessible.
  RangeList closed_at_call_;
  RangeList populated_at_call_;
  RangeList written_at_call_;

  // Pages that free left dirty. If such a page is zero before the next call, it was cleared outside of calls to the
  // allocator.
  RangeList left_dirty_;
  OpSample* left_by_ = nullptr;

  // Blocks that the program holds.
  static constexpr std::size_t kLive = 256;
  AddressRange live_[kLive];
  std::size_t live_count_ = 0;

  // Blocks handed out so far, whose pages a later call may reuse.
  static constexpr std::size_t kBlocks = 32;
  AddressRange blocks_[kBlocks];
  std::size_t block_count_ = 0;

  // The memsets of the current call.
  static constexpr std::size_t kStores = 1024;
  AddressRange stores_[kStores];
  std::size_t store_count_ = 0;
};

}  // namespace zerotax
