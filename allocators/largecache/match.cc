// Which block of the cache serves a request, and how it leaves the cache.
#include <mutex>
#include <optional>

#include "largecache/adaptive/pagemap.h"
#include "largecache/clear.h"
#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

// What grows will grow further: it may have a populated block of so many times its size, or any that grew before.
constexpr std::size_t kMostGrowth = 64;

// Shorter requests of several sizes take turns, and the long blocks are wanted again: with cutting from 128 KiB on,
// benchmark-programs' `threads` took 10 % more faults, with 8 MiB none; `imagemagick` cuts for 11 MiB.
constexpr std::size_t kLeastCut = std::size_t{8} << 20;

// A block of which less than half is would take more faults than a fresh one saves.
bool is_populated(const Block& block) {
  if (block.resident == Block::kUnknown) return block.use == Use::kFilled;
  return block.resident >= block.size / page_size() / 2;
}

}  // namespace

// Malloc prefers blocks that are likely to be populated; calloc prefers the others. Malloc never takes a clean block:
// the faults would be the same as with fresh pages, and calloc would have to do without the block.
std::optional<LargeHeap::Choice> LargeHeap::choose_locked(std::size_t size, std::size_t alignment, Contents contents,
                                                          bool growing) const {
  const auto of = [&](bool (*suits)(const Block&), bool counts) -> std::optional<Choice> {
    const std::optional<std::size_t> best = ring_.best_fit(size, alignment, suits);
    if (!best) return std::nullopt;
    const Block& found = ring_.at(*best);
    const bool has_room = growing && (found.grew || found.size / kMostGrowth <= size);
    if (!is_good_fit(found.size, size) && !has_room) return std::nullopt;
    return Choice{*best, counts};
  };
  if (!policy().sorts_by_contents) return of([](const Block& /*block*/) { return true; }, false);
  if (contents == Contents::kZero) {
    const auto zeroed = of([](const Block& block) { return block.use == Use::kZeroed; }, false);
    return zeroed ? zeroed : of([](const Block& block) { return block.use == Use::kFilled; }, false);
  }
  const auto filled = of([](const Block& block) { return is_populated(block); }, false);
  if (filled) return filled;
  return of([](const Block& block) { return block.use == Use::kZeroed && block.resident == Block::kUnknown; }, true);
}

bool LargeHeap::take_cached(std::size_t size, std::size_t alignment, const Request& request, Block& block) {
  // Each turn but the last counts the pages of one more block.
  for (;;) {
    {
      const Guard guard(lock_);
      if (!policy().should_cache(settings_, size)) return false;
      if (policy().block_alignment > 1 && alignment > policy().block_alignment) return false;
      const std::optional<Choice> choice = choose_locked(size, alignment, request.contents, request.growing);
      if (!choice || !in_use_.reserve()) return false;
      block = take_out_locked(choice->position);
      if (!choice->counts) {
        hand_out_locked(block, request);
        return true;
      }
    }
    if (hand_out_if_populated(block, request)) return true;
  }
}

// The block is in neither the table nor the ring meanwhile. False: it is back in the ring, and counted.
bool LargeHeap::hand_out_if_populated(Block& block, const Request& request) {
  block.resident = count_populated(block.address, block.size);
  if (block.resident == Block::kUnknown) block.resident = static_cast<std::uint32_t>(block.size / page_size());
  Evicted evicted;
  bool handed_out = false;
  {
    const Guard guard(lock_);
    handed_out = is_populated(block) && in_use_.reserve();
    if (handed_out) {
      hand_out_locked(block, request);
    } else {
      push_locked(block, evicted);
    }
  }
  unmap(evicted);
  return handed_out;
}

// Whole: whatever was asked for, a later free caches all of it again.
Block LargeHeap::take_out_locked(std::size_t position) {
  Block block = ring_.remove(position);
  statistics_.cached_bytes -= block.size;
  held_bytes_ -= held(block);
  if (!block.madvised) statistics_.reserve_bytes -= block.size;
  return block;
}

void LargeHeap::hand_out_locked(const Block& block, const Request& request) {
  Block& kept = count_in_use_locked(block, request.asked);
  kept.use = use_of(request);
  kept.grew = request.growing;
  kept.resident = Block::kUnknown;
  ++statistics_.hits;
}

// `usable`: false if it was altered, or the kernel refuses to move it.
void* LargeHeap::hand_out_or_give_up(Block& block, const Request& request, bool usable) {
  Evicted evicted;
  {
    const Guard guard(lock_);
    if (usable) {
      hand_out_locked(block, request);
    } else {
      ++statistics_.altered;
      give_up_locked(block, evicted);
    }
  }
  unmap(evicted);
  return usable ? as_pointer(block.address) : nullptr;
}

// A request for which no block in the cache is long enough: the pages of a shorter one save as many faults, and moving
// them takes less than a tenth of that.
void* LargeHeap::extend(std::size_t size, const Request& request) {
  Block block;
  {
    const Guard guard(lock_);
    if (!policy().should_cache(settings_, size)) return nullptr;
    const std::optional<std::size_t> longest =
        ring_.longest_below(size, [](const Block& each) { return each.use == Use::kFilled; });
    if (!longest || !in_use_.reserve()) return nullptr;
    block = take_out_locked(*longest);
  }
  const bool moved = agrees_with_witness(block.address, block.size) && move_longer(block, size, request.growing);
  return hand_out_or_give_up(block, request, moved);
}

// A request for which every populated block is too long: the smallest of these gives its first pages, and the rest
// stays in the cache. Both lie in the one mapping that there was, so that each has its witness: that of the first is
// made of pages of the rest.
void* LargeHeap::cut(std::size_t size, const Request& request) {
  Block block;
  {
    const Guard guard(lock_);
    if (size < kLeastCut || !policy().should_cache(settings_, size)) return nullptr;
    const std::optional<std::size_t> found =
        ring_.best_fit(mapped_size(size) + settings_.threshold + 1, 1, is_populated);
    if (!found || !in_use_.reserve()) return nullptr;
    block = take_out_locked(*found);
  }
  const bool agrees = agrees_with_witness(block.address, block.size);
  if (agrees) {
    Evicted evicted;
    {
      const Guard guard(lock_);
      ++statistics_.tails;
      push_locked(cut_off_locked(block, size), evicted);
    }
    unmap(evicted);
  }
  return hand_out_or_give_up(block, request, agrees);
}

// Makes a block `size` bytes long, and returns what lies behind it and its witness.
Block LargeHeap::cut_off_locked(Block& block, std::size_t size) {
  Block rest = block;
  rest.address += mapped_size(size);
  rest.size -= mapped_size(size);
  rest.asked = rest.size;
  rest.resident = Block::kUnknown;
  rest.history = policy().has_witness ? histories_.take() : nullptr;
  block.size = size;
  if (block.history != nullptr) *block.history = {};
  return rest;
}

}  // namespace zerotax::largecache
