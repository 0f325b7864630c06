#include "largecache/ring.h"

namespace zerotax::largecache {

std::optional<Block> Ring::push(const Block& block, std::size_t capacity) {
  std::optional<Block> evicted;
  if (size_ >= capacity) evicted = pop_oldest();
  slots_[slot(size_)] = block;
  ++size_;
  return evicted;
}

std::optional<std::size_t> Ring::best_fit(std::size_t size, std::size_t alignment,
                                          bool (*suits)(const Block& block)) const {
  std::optional<std::size_t> best;
  for (std::size_t position = size_; position-- > 0;) {  // from the newest to the oldest entry
    const Block& block = at(position);
    if (block.size < size || (block.address & (alignment - 1)) != 0 || !suits(block)) continue;
    if (block.size == size) return position;
    // The comparison is strict, so that the newest of equal blocks stays.
    if (!best || block.size < at(*best).size) best = position;
  }
  return best;
}

std::optional<std::size_t> Ring::longest_below(std::size_t size, bool (*suits)(const Block& block)) const {
  std::optional<std::size_t> longest;
  for (std::size_t position = size_; position-- > 0;) {
    const Block& block = at(position);
    if (block.size < size && suits(block) && (!longest || block.size > at(*longest).size)) longest = position;
  }
  return longest;
}

Block Ring::remove(std::size_t position) {
  const Block removed = at(position);
  for (; position + 1 < size_; ++position) slots_[slot(position)] = slots_[slot(position + 1)];
  --size_;
  return removed;
}

Block Ring::pop_oldest() {
  const Block oldest = at(0);
  oldest_ = slot(1);
  --size_;
  return oldest;
}

bool Ring::contains(std::uintptr_t address) const {
  for (std::size_t position = 0; position < size_; ++position) {
    if (at(position).address == address) return true;
  }
  return false;
}

}  // namespace zerotax::largecache
