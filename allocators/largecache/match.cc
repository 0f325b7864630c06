// Chooses the cached block for a request, and takes it out of the cache.
#include <mutex>
#include <optional>

#include "largecache/adaptive/pagemap.h"
#include "largecache/clear.h"
#include "largecache/large.h"
#include "largecache/pages.h"

namespace zerotax::largecache {
namespace {

using Guard = std::lock_guard<Lock>;

// Largest accepted ratio of a populated block's size to a growing request. A longer block leaves room, because a block
// that grows tends to grow again. A block that grew before may be even longer.
constexpr std::size_t kMostGrowth = 64;

// Smallest request for which a longer block is cut. If requests of several sizes alternate, the long blocks are needed
// again. With cuts from 128 KiB on, `threads` of benchmark-programs took 10 % more faults than without cuts. With cuts
// from 8 MiB on, `threads` took no additional faults. `imagemagick` cuts for 11 MiB.
constexpr std::size_t kLeastCut = std::size_t{8} << 20;

// Whether at least half of a block is populated. With less, the block would cause more faults than it saves.
bool is_populated(const Block& block) {
  if (block.resident == Block::kUnknown) return block.use == Use::kFilled;
  return block.resident >= block.size / page_size() / 2;
}

}  // namespace

// Chooses a block in the cache. malloc prefers blocks that are likely to be populated; calloc prefers all others.
// malloc never takes a clean block: a clean block causes as many faults as fresh pages, and calloc would lose it.
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
  // Each iteration except the last counts the pages of one more block.
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

// Counts the pages of a block, which is in neither the table nor the ring in the meantime. Returns false if the block
// went back to the ring with its count.
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

// Takes a whole block out of the ring. A later free caches the whole block again, even if the request was shorter.
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

// Hands out a block if it is `usable`. A block is not usable if the program altered its mapping or the kernel refuses
// to move it.
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

// Serves a request for which no cached block is long enough, by moving the pages of the longest block. Moved pages save
// a fault each, and moving takes less than a tenth of the time of the faults.
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

// Serves a request for which every populated block is too long. The smallest of these blocks gives its first pages, and
// the rest stays in the cache. First part and rest remain parts of one mapping. Pages of the rest become the witness of
// the first part.
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

// Shortens a block to `size` bytes. Returns the rest, which begins behind the new witness of the shortened block.
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
