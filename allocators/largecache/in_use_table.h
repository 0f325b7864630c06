// The large blocks that the program holds, by their addresses. Open addressing on the page number with
// linear probing, grown to 2n+1 slots when more than a quarter would be taken, as libmalloc-116's
// large_entries are (src/magazine_large.c, large_entries_grow_no_lock). Its memory comes from mmap. No lock: the
// owner's lock is held.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

class InUseTable {
 public:
  /// Makes room for one more block; false when no memory can be mapped.
  [[nodiscard]] bool reserve();

  /// Adds a block that is not in the table; its address is page-aligned and not 0. reserve() has
  /// returned true since the last insert(). Returns the table's own copy, which stays there until the next insert() or
  /// remove().
  Block& insert(const Block& block);

  /// Bytes of the block that starts at `address`; 0 when there is none.
  [[nodiscard]] std::size_t find(std::uintptr_t address) const;

  /// The same for a signal handler, at any moment of the owner's: the whole block, or one of size 0.
  [[nodiscard]] Block peek(std::uintptr_t address) const;

  /// The block that starts at `address`, which is in the table.
  [[nodiscard]] Block& at(std::uintptr_t address) { return blocks_[probe(address)]; }

  /// Removes the block that starts at `address` and returns it; its size is 0 when there is none.
  Block remove(std::uintptr_t address);

  /// Blocks in the table.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Slots mapped; for tests.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  // The address of a free slot is 0.
  [[nodiscard]] std::size_t home(std::uintptr_t address) const;
  [[nodiscard]] std::size_t after(std::size_t slot) const { return slot + 1 == capacity_ ? 0 : slot + 1; }
  // Slots from one to the other, around the end.
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + capacity_ - from;
  }
  // The slot of `address`, or the free slot where the search for it ended; capacity_ > size_.
  [[nodiscard]] std::size_t probe(std::uintptr_t address) const;
  [[nodiscard]] bool grow();

  Block* blocks_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  const InUseTable* before_growth_ = nullptr;  // meanwhile
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_
