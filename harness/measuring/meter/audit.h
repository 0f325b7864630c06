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

/// The audit pass: what calloc and free wrote zeros over, how much of it had been zero, which system calls they made,
/// and whether the block is all zero. docs/method.md describes each metric. Slow, and no clock of it means anything.
/// audit.cc has what both calls share, audit_memset.cc, audit_calloc.cc, audit_free.cc and audit_kernel.cc the rest.
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

  /// Around the call of the allocator itself.
  void begin_call(bool in_free);
  void end_call(SyscallTally& tally);
  void give_up_counting(const char* why);

  // calloc: what the memory was like before it (populated pages of the whole process, dirty pages of the blocks handed
  // out), and what it left behind beyond its memsets.
  void look_before_calloc();
  void look_after_calloc(AddressRange block);
  template <typename Touch>
  void look_at_touch(const void* block, std::size_t bytes, const Touch& touch);
  void count_populated(AddressRange block);
  void doubt_shared_pages(AddressRange block);
  void note_place(AddressRange block);
  void remember_block(AddressRange block);

  // free: the same, of the block's pages alone. They may go while it runs, so each is looked at before it goes.
  AddressRange take_live(const void* block);
  void look_before_free();
  void look_after_free();
  void count_before_they_go(AddressRange pages);
  void count_zeros_of(AddressRange pages);

  // memset (audit_memset.cc): what it writes is known. Where it writes part of a page, the rest is watched.
  template <typename Visit>
  static void for_each_partial_page(AddressRange range, Visit visit);
  void note_stores_beside(std::uintptr_t page);
  std::size_t dirty_bytes_of(AddressRange range);
  [[nodiscard]] std::size_t covered_by_memset(AddressRange part) const;
  void remember_store(AddressRange range);
  void look_for_late_zeros();

  // System calls that change pages.
  void look_before_populating(AddressRange target);
  void watch_what_was_populated(const SystemCall& call, long result);
  void watch_run(AddressRange run);
  void note_zeros_that_go(AddressRange pages);
  void note_unfollowed(const SystemCall& plain, const SystemCall& call, long result);

  /// Whether a populated page of the block that reads zero was written to, as far as is known.
  enum class Store { kNone, kZeros, kZerosOverDirty, kUnknown };
  /// `by_memset`: a memset wrote a part of the page, and the question is about the rest.
  Store store_to(std::uintptr_t page, bool by_memset);
  Store store_to_old(std::uintptr_t page, bool stored);
  Store store_to_new(bool by_memset, bool stored);
  Store doubt(const char* why);
  /// `bytes`: of the part, those that no memset wrote.
  void count(Store store, AddressRange part, std::size_t bytes);
  /// Adds what was found page by page to the operation.
  void add_filled();
  /// Why it need not be this thread that stored zeros to the pages found; nullptr if it was.
  [[nodiscard]] const char* why_not_own_stores() const;
  /// Whether pages may have been zeroed and taken away within the call, so that none is left to look at.
  void doubt_what_is_gone();
  /// The operation's figures of the call that is going on.
  struct Zeros {
    std::int64_t& all;
    std::int64_t& redundant;
    std::uint32_t& methods;
  };
  [[nodiscard]] Zeros zeros() const;
  /// What is known about these pages now: populated, readable, watched, written.
  bool look_at(AddressRange pages);
  [[nodiscard]] bool inline_watched() const { return samples_.na_inline[0] == '\0'; }

  /// What was zeroed cannot be known: some of it may have been zeroed unseen.
  void forget_zeroed_bytes(const char* why);

  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  Pagemap pagemap_{Pagemap::Sharing::kNever};
  PageAccount account_{pagemap_, samples_};
  WriteTracker tracker_;
  bool count_syscalls_ = false;
  bool unseen_ = false;  ///< some zeroing of this operation may have gone unseen: of calloc, of free
  bool unseen_in_free_ = false;

  // The call that is going on.
  bool in_free_ = false;
  AddressRange block_;
  FilledPages filled_;
  std::size_t claims_ = 0;         ///< pages whose first store took a fault, if this thread made it
  std::size_t memset_beside_ = 0;  ///< pages that a memset wrote a part of, where nothing tells about the rest
  bool followed_ = false;          ///< whether all its system calls were seen
  Unfollowed unfollowed_ = Unfollowed::kNothing;
  bool has_twin_ = false;           ///< another process had the memory when the operation began
  bool huge_pages_ = false;         ///< the process may have had some since its first call
  const char* doubt_ = "";          ///< why the store to a page is not known
  std::int64_t faults_ = 0;         ///< of this thread: before the call, then in it
  std::int64_t all_faults_ = 0;     ///< the same of all threads
  std::int64_t memset_faults_ = 0;  ///< of this thread, those that memset took
  std::int64_t memset_began_ = 0;   ///< its faults before the last memset
  std::int64_t others_ns_ = 0;      ///< CPU time of the other threads
  bool others_drop_ = false;        ///< another thread may have returned pages that this thread populated again
  bool alone_ = false;              ///< no other thread or process had the memory when the call was over
  std::uintptr_t heap_end_ = 0;
  FewRanges dropped_;    ///< pages taken away
  FewRanges hidden_;     ///< pages looked at before they were closed or given to the kernel for later
  FewRanges populated_;  ///< by the kernel, because it was asked to
  FewRanges new_;        ///< of them, those that were not populated just before
  FewRanges stored_;     ///< pages that were stored to before a memset wrote a part of them
  FewRanges unsure_;     ///< pages of which that cannot be told
  FewRanges lost_;       ///< pages that were zeroed, and then taken away
  FewRanges moved_;      ///< by mremap

  RangeList populated_before_;
  RangeList dirty_before_;
  RangeList watched_;
  RangeList written_;
  RangeList populated_after_;
  RangeList readable_;
  AddressRange zero_filled_;  ///< a mapping of private anonymous memory, found since the last system call
  RangeList anonymous_;       ///< of them, in private anonymous mappings
  RangeList scratch_;
  RangeList opened_dirty_;  ///< pages that were not zero when the call opened them for writing
  // Before a system call that may populate, or open.
  RangeList closed_at_call_;
  RangeList populated_at_call_;
  RangeList written_at_call_;

  // Pages that free left dirty: whatever clears them before the next call is not a call of the allocator.
  RangeList left_dirty_;
  OpSample* left_by_ = nullptr;

  // Blocks that the program has.
  static constexpr std::size_t kLive = 256;
  AddressRange live_[kLive];
  std::size_t live_count_ = 0;

  // Blocks handed out so far, page by page what a later call may get back.
  static constexpr std::size_t kBlocks = 32;
  AddressRange blocks_[kBlocks];
  std::size_t block_count_ = 0;

  // The memsets of this call.
  static constexpr std::size_t kStores = 1024;
  AddressRange stores_[kStores];
  std::size_t store_count_ = 0;
};

}  // namespace zerotax
