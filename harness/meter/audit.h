#pragma once

#include "meter/meter.h"
#include "meter/zeroing_hook.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/write_tracker.h"

namespace zerotax {

/// The audit pass: what calloc wrote zeros over, how much of it had been zero, which system calls it made, and whether
/// the block is all zero. docs/method.md describes each figure. Slow, and no clock of it means anything.
class AuditMeter final : public Meter, private ZeroingHook::Listener {
 public:
  explicit AuditMeter(Record& record);

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpRecord& op) override;
  void end_operation() override;

 private:
  void before_zeroing(void* target, std::size_t bytes) override;
  void after_zeroing(void* /*target*/, std::size_t /*bytes*/) override {}

  /// What the memory was like before the call: populated pages of the whole process, dirty pages of the blocks handed
  /// out.
  void look_before();
  /// What the call left behind, beyond its memsets.
  void look_after(AddressRange block);
  /// Bytes of the block in pages that the call filled with zeros by other stores than memset.
  void count_inline(AddressRange block);
  void remember_block(AddressRange block);
  /// What was zeroed cannot be known: some of it may have been zeroed unseen.
  void forget_zeroed_bytes();
  [[nodiscard]] bool touched_by_memset(AddressRange part) const;
  [[nodiscard]] bool covered_by_memset(AddressRange block) const;

  Record& record_;
  OpRecord* op_ = nullptr;
  Pagemap pagemap_{Pagemap::Sharing::kNever};
  WriteTracker tracker_;
  bool count_syscalls_ = false;
  bool populate_requested_ = false;
  bool unseen_ = false;  ///< some zeroing of this operation may have gone unseen

  RangeList populated_before_;
  RangeList dirty_before_;
  RangeList watched_;
  RangeList written_;
  RangeList populated_after_;
  RangeList scratch_;

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
