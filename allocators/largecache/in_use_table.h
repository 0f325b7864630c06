// The large blocks that the program holds, by address. A hash table with open addressing: the page number is the key,
// and probing is linear. The table grows to 2n+1 slots when more than a quarter would be taken, as in libmalloc-116
// (src/magazine_large.c, large_entries_grow_no_lock). Memory comes from mmap. The table has no lock; callers hold the
// owner's.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "largecache/block.h"

namespace zerotax::largecache {

class InUseTable {
 public:
  /// Makes room for one more block. Returns false if no memory can be mapped.
  [[nodiscard]] bool reserve();

  /// Adds a block that is not in the table. The address of `block` must be page-aligned and not 0. Requires that
  /// reserve() has returned true since the last insert(). Returns the table's own copy, which stays there until the
  /// next insert() or remove().
  Block& insert(const Block& block);

  /// Returns the size in bytes of the block that starts at `address`; 0 if no block starts there.
  [[nodiscard]] std::size_t find(std::uintptr_t address) const;

  /// Like find(), but may be called from a signal handler at any moment. Returns the whole block, or a block of size 0.
  [[nodiscard]] Block peek(std::uintptr_t address) const;

  /// Returns the block that starts at `address`, which must be in the table.
  [[nodiscard]] Block& at(std::uintptr_t address) { return blocks_[probe(address)]; }

  /// Removes and returns the block that starts at `address`; a block of size 0 if no block starts there.
  Block remove(std::uintptr_t address);

  /// Number of blocks in the table.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Number of mapped slots; for tests.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  // In a free slot the address is 0.
  [[nodiscard]] std::size_t home(std::uintptr_t address) const;
  [[nodiscard]] std::size_t after(std::size_t slot) const { return slot + 1 == capacity_ ? 0 : slot + 1; }
  // Returns the number of slots from `from` to `to`, wrapping at the end of the table.
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const {
    return to >= from ? to - from : to + capacity_ - from;
  }
  // Returns the slot of `address`, or the free slot at which the search ended. Requires capacity_ > size_.
  [[nodiscard]] std::size_t probe(std::uintptr_t address) const;
  [[nodiscard]] bool grow();

  Block* blocks_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  const InUseTable* before_growth_ = nullptr;  // the complete old table during growth
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_IN_USE_TABLE_H_
