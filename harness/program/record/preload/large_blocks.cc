#include "record/preload/large_blocks.h"

#include <bit>

#include "record/preload/examine.h"
#include "record/preload/holdings.h"
#include "record/preload/live_blocks.h"
#include "record/preload/live_heap.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/site.h"

namespace zerotax::record {
namespace {

/// Counts the bytes that the program wrote in a block of huge pages, because the kernel zeroes huge pages whole. The
/// first sixteen blocks of a thread are examined, then the 32nd, 64th, 128th and so on.
void examine_huge(const LiveBlock& block, std::uint64_t populated) {
  constexpr std::uint64_t kAllOf = 16;
  ThreadBlock& counts = *state.block;
  const std::uint64_t number = ++counts.huge_blocks;
  if (number > kAllOf && !std::has_single_bit(number)) return;
  std::uint64_t zero = 0;
  if (!redundant_bytes(reinterpret_cast<const void*>(block.begin), block.bytes, zero)) return;
  counts.huge_examined_bytes += populated;
  counts.huge_written_bytes += block.bytes - zero;
}

void note_live(std::uint64_t bytes) {
  Holdings& holdings = process->holdings;
  const std::int64_t now = holdings.large_live_bytes += static_cast<std::int64_t>(bytes);
  if (now > 0) raise(holdings.peak_large_live_bytes, static_cast<std::uint64_t>(now));
}

/// Counts the bytes of a block that the kernel has zeroed since the block was last examined. Returns the bytes that
/// were read and never written.
std::uint64_t settle(LiveBlock& block) {
  const AddressRange pages = range_of(reinterpret_cast<const void*>(block.begin), block.bytes).pages();
  const auto found = anonymous_in(pages);
  if (found.huge != 0) examine_huge(block, found.bytes);
  const std::uint64_t populated = found.bytes;
  if (populated <= block.populated_bytes) return found.zero;
  const std::uint64_t zeroed = populated - block.populated_bytes;
  const std::uint64_t refilled = zeroed < block.taken_bytes ? zeroed : block.taken_bytes;
  block.populated_bytes = populated;
  block.taken_bytes -= refilled;
  FilledRow& row = state.block->filled[class_of(block.bytes)];
  row.kernel_zeroed_bytes += zeroed;
  row.refilled_bytes += refilled;
  if (block.site == nullptr) return found.zero;
  block.site->kernel_zeroed_bytes += zeroed;
  block.site->refilled_bytes += refilled;
  return found.zero;
}

}  // namespace

namespace {

/// Counts a call at its site, and returns the site. Calls for fully populated blocks (`is_whole`) are sampled, because
/// finding a site takes longer than examining a fully populated block.
Site* count_at_site(ThreadState& thread, SiteKind kind, std::size_t bytes, bool is_whole) {
  const std::uint32_t weight = is_whole ? site_weight(thread) : 1;
  if (weight > 1) return note_sampled_calls(kind, weight);
  return weight == 1 ? note_site(kind, bytes, {}) : nullptr;
}

void note_large(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes) {
  const TimedOwnWork own;
  const AddressRange pages = range_of(block, bytes).pages();
  const AddressRange fresh = thread.eventful ? pages.intersect(thread.call.fresh) : AddressRange{};
  std::uint64_t populated = 0;
  if (fresh.bytes() < pages.bytes()) populated = anonymous_in(pages).bytes;
  if (fresh.bytes() != 0 && populated != 0) {
    const std::uint64_t new_ones = anonymous_in(fresh).bytes;
    populated -= new_ones < populated ? new_ones : populated;
  }
  const bool is_whole = populated >= pages.bytes();
  if (site == nullptr) site = count_at_site(thread, kind, bytes, is_whole);
  if (is_whole && !live_heap_counted) {
    process->holdings.large_whole_bytes += bytes;
    return;
  }
  const std::uint64_t taken = is_whole ? 0 : take_from_pool(pages.bytes() - populated);
  LiveBlock live{reinterpret_cast<std::uintptr_t>(block), bytes, populated, taken, site, 0};
  if (live_heap_counted) enter_site(live);
  if (live_blocks.remember(live)) {
    note_live(live.bytes);
    if (!is_whole) ++thread.block->filled[class_of(bytes)].blocks;
  } else {
    give_to_pool(taken);
    if (live_heap_counted) leave_site(live);
    note_gap(kBlocksLost);
    ++process->holdings.lost_blocks;
  }
}

}  // namespace

void note_block(ThreadState& thread, SiteKind kind, Site* site, const void* block, std::size_t bytes) {
  if (process == nullptr) return;
  on_own_stack([&] {
    if (block != nullptr) return note_large(thread, kind, site, block, bytes);
    if (site == nullptr) note_site(kind, bytes, {});
  });
}

bool end_block(const void* block, LiveBlock& ended) {
  if (!live_blocks.take(block, ended)) return false;
  process->holdings.large_live_bytes -= static_cast<std::int64_t>(ended.bytes);
  on_own_stack([&] {
    const TimedOwnWork own;
    process->holdings.zero_page_bytes += settle(ended);
    give_to_pool(ended.taken_bytes);
    ended.taken_bytes = 0;
    if (live_heap_counted) leave_site(ended);
  });
  return true;
}

void restore_block(LiveBlock& ended) {
  note_live(ended.bytes);
  if (live_heap_counted) enter_site(ended);
  live_blocks.remember(ended);
}

void settle_live_blocks() {
  std::uint64_t zero = 0;
  const auto look = [](void* sum, LiveBlock& block) { *static_cast<std::uint64_t*>(sum) += settle(block); };
  live_blocks.for_each(look, &zero);
  process->holdings.live_zero_page_bytes = zero;
}

constinit BlockTable<LiveBlock> live_blocks;

}  // namespace zerotax::record
