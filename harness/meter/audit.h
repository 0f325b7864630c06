#pragma once

#include "meter/few_ranges.h"
#include "meter/filled_pages.h"
#include "meter/meter.h"
#include "meter/page_account.h"
#include "meter/zeroing_hook.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/syscall_counter.h"
#include "os/write_tracker.h"

namespace zerotax {

/// The audit pass: what calloc and free wrote zeros over, how much of it had been zero, which system calls they made,
/// and whether the block is all zero. docs/method.md describes each metric. Slow, and no clock of it means anything.
/// audit.cc has what both calls share, audit_calloc.cc, audit_free.cc and audit_kernel.cc the rest.
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
  void after_zeroing(void* /*target*/, std::size_t /*bytes*/) override {}
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
  void look_for_late_zeros();

  // System calls that change pages.
  void look_before_populating(AddressRange target);
  void watch_what_was_populated(const SystemCall& call, long result);
  void watch_run(AddressRange run);

  /// What is known about a page of the block that is populated and reads zero.
  enum class Store { kNone, kZeros, kZerosOverDirty, kUnknown };
  Store store_to(std::uintptr_t page);
  void count(Store store, AddressRange part);
  /// Adds what was found page by page to the operation.
  void add_filled();
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
  void remember_store(AddressRange range);
  [[nodiscard]] bool touched_by_memset(AddressRange part) const;
  [[nodiscard]] bool covered_by_memset(AddressRange block) const;

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
  std::size_t new_pages_ = 0;  ///< of filled_, those that were not populated before
  bool followed_ = false;      ///< whether all its system calls were seen
  bool beyond_following_ = false;
  bool huge_pages_ = false;  ///< the process may have had some since its first call
  const char* doubt_ = "";   ///< why the store to a page is not known
  std::int64_t faults_ = 0;  ///< of this thread: before the call, then in it
  std::uintptr_t heap_end_ = 0;
  FewRanges dropped_;    ///< pages taken away
  FewRanges hidden_;     ///< pages looked at before they were closed or given to the kernel for later
  FewRanges populated_;  ///< by the kernel, because it was asked to
  FewRanges moved_;      ///< by mremap

  RangeList populated_before_;
  RangeList dirty_before_;
  RangeList watched_;
  RangeList written_;
  RangeList populated_after_;
  RangeList readable_;
  RangeList anonymous_;  ///< of them, in private anonymous mappings
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
