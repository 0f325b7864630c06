#include "largecache/in_use_table.h"

#include <atomic>
#include <optional>

#include "largecache/pages.h"

namespace zerotax::largecache {

bool InUseTable::reserve() { return (size_ + 1) * 4 <= capacity_ || grow(); }

bool InUseTable::grow() {
  // The first table is one page minus one slot. With 2n+1 slots after each growth, every table is whole pages minus one
  // slot.
  const std::size_t page = page_size();
  const std::size_t capacity = capacity_ == 0 ? page / sizeof(Block) - 1 : capacity_ * 2 + 1;
  const std::optional<std::size_t> bytes = round_up_to_pages(capacity * sizeof(Block));
  if (!bytes) return false;
  const std::uintptr_t memory = map_pages(*bytes, page);
  if (memory == 0) return false;
  const InUseTable old = *this;
  // The old table must be complete for a signal handler that uses it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  before_growth_ = &old;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  blocks_ = reinterpret_cast<Block*>(memory);  // NOLINT(performance-no-int-to-ptr)
  capacity_ = capacity;
  size_ = 0;
  for (std::size_t slot = 0; slot < old.capacity_; ++slot) {
    if (old.blocks_[slot].address != 0) insert(old.blocks_[slot]);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  before_growth_ = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (old.capacity_ != 0) {
    unmap_pages(reinterpret_cast<std::uintptr_t>(old.blocks_), *round_up_to_pages(old.capacity_ * sizeof(Block)));
  }
  return true;
}

std::size_t InUseTable::home(std::uintptr_t address) const { return (address / kLeastPage) % capacity_; }

std::size_t InUseTable::probe(std::uintptr_t address) const {
  std::size_t slot = home(address);
  while (blocks_[slot].address != 0 && blocks_[slot].address != address) slot = after(slot);
  return slot;
}

Block& InUseTable::insert(const Block& block) {
  Block& slot = blocks_[probe(block.address)];
  slot = block;
  ++size_;
  return slot;
}

std::size_t InUseTable::find(std::uintptr_t address) const {
  if (size_ == 0 || address == 0) return 0;
  // A free slot has size 0.
  return blocks_[probe(address)].size;
}

Block InUseTable::peek(std::uintptr_t address) const {
  const InUseTable& table = before_growth_ != nullptr ? *before_growth_ : *this;
  if (table.size_ == 0 || address == 0) return {};
  return table.blocks_[table.probe(address)];
}

namespace {

// Copies a block. The address is copied last, because searches compare addresses.
void move_block(const Block& from, Block& to) {
  Block block = from;
  block.address = to.address;
  to = block;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  to.address = from.address;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

// Removes a block. Each later block of the run that was pushed past the hole moves into the hole, and leaves another
// hole. A signal handler may call peek(), so at every moment a block is complete in one of the two places.
Block InUseTable::remove(std::uintptr_t address) {
  if (size_ == 0 || address == 0) return {};
  std::size_t hole = probe(address);
  const Block removed = blocks_[hole];
  if (removed.size == 0) return {};
  for (std::size_t slot = after(hole); blocks_[slot].address != 0; slot = after(slot)) {
    if (distance(home(blocks_[slot].address), slot) < distance(hole, slot)) continue;
    move_block(blocks_[slot], blocks_[hole]);
    hole = slot;
  }
  blocks_[hole] = {};
  --size_;
  return removed;
}

}  // namespace zerotax::largecache
