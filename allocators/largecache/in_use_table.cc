#include "largecache/in_use_table.h"

#include <optional>

#include "largecache/pages.h"

namespace zerotax::largecache {

bool InUseTable::Reserve() { return (size_ + 1) * 4 <= capacity_ || Grow(); }

bool InUseTable::Grow() {
  // The first table is one page less a slot, so that 2n+1 keeps to a whole number of pages less a
  // slot.
  const std::size_t page = PageSize();
  const std::size_t capacity = capacity_ == 0 ? page / sizeof(Block) - 1 : capacity_ * 2 + 1;
  const std::optional<std::size_t> bytes = RoundUpToPages(capacity * sizeof(Block));
  if (!bytes) return false;
  const std::uintptr_t memory = MapPages(*bytes, page);
  if (memory == 0) return false;
  const InUseTable old = *this;
  blocks_ = reinterpret_cast<Block*>(memory);  // NOLINT(performance-no-int-to-ptr)
  capacity_ = capacity;
  size_ = 0;
  for (std::size_t slot = 0; slot < old.capacity_; ++slot) {
    if (old.blocks_[slot].address != 0) Insert(old.blocks_[slot]);
  }
  if (old.capacity_ != 0) {
    UnmapPages(reinterpret_cast<std::uintptr_t>(old.blocks_), *RoundUpToPages(old.capacity_ * sizeof(Block)));
  }
  return true;
}

std::size_t InUseTable::Home(std::uintptr_t address) const { return (address / kLeastPage) % capacity_; }

std::size_t InUseTable::Probe(std::uintptr_t address) const {
  std::size_t slot = Home(address);
  while (blocks_[slot].address != 0 && blocks_[slot].address != address) slot = After(slot);
  return slot;
}

Block& InUseTable::Insert(const Block& block) {
  Block& slot = blocks_[Probe(block.address)];
  slot = block;
  ++size_;
  return slot;
}

std::size_t InUseTable::Find(std::uintptr_t address) const {
  if (size_ == 0 || address == 0) return 0;
  // A free slot has size 0.
  return blocks_[Probe(address)].size;
}

Block InUseTable::Remove(std::uintptr_t address) {
  if (size_ == 0 || address == 0) return {};
  const std::size_t hole = Probe(address);
  const Block removed = blocks_[hole];
  if (removed.size == 0) return {};
  blocks_[hole] = {};
  --size_;
  // Whatever follows in the run may have been pushed past the hole: take it out and put it back in.
  for (std::size_t slot = After(hole); blocks_[slot].address != 0; slot = After(slot)) {
    const Block block = blocks_[slot];
    blocks_[slot] = {};
    blocks_[Probe(block.address)] = block;
  }
  return removed;
}

}  // namespace zerotax::largecache
