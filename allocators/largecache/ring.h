// The cache itself ("death row" in libmalloc): freed blocks in the order of their freeing. A pure
// data structure: no lock, no system call, no allocation.
//
// libmalloc-116 keeps an array of 16 with indices `newest` and `oldest`, and removes by shifting
// either the newer entries down or, when the ring is wrapped and the entry lies above `newest`, the
// older ones up (src/magazine_large.c, large_malloc). Which side moves is invisible: both keep the
// order of time. Here the newer entries always move, and a count tells empty from full where
// libmalloc looks for a zero address.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_RING_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_RING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "largecache/block.h"

namespace zerotax::largecache {

class Ring {
 public:
  static constexpr std::size_t kMaxEntries = 64;

  /// Number of entries, 0..kMaxEntries.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The entry at `position`, 0 being the oldest; position < size().
  [[nodiscard]] const Block& at(std::size_t position) const { return slots_[slot(position)]; }

  /// The entry that was added last; size() > 0.
  [[nodiscard]] Block& newest() { return slots_[slot(size_ - 1)]; }

  /// Adds `block` as the newest; when the ring held `capacity` (1..kMaxEntries) or more entries,
  /// removes the oldest and returns it.
  std::optional<Block> push(const Block& block, std::size_t capacity);

  /// Position of the smallest entry of at least `size` bytes whose address is a multiple of
  /// `alignment` (a power of two): of equals, the newest.
  [[nodiscard]] std::optional<std::size_t> best_fit(std::size_t size, std::size_t alignment) const {
    return best_fit(size, alignment, [](const Block& /*block*/) { return true; });
  }

  /// The same of the entries that `suits` says yes of.
  [[nodiscard]] std::optional<std::size_t> best_fit(std::size_t size, std::size_t alignment,
                                                    bool (*suits)(const Block& block)) const;

  /// Position of the longest entry of less than `size` bytes that `suits` says yes of: of equals, the newest.
  [[nodiscard]] std::optional<std::size_t> longest_below(std::size_t size, bool (*suits)(const Block& block)) const;

  /// Removes the entry at `position` < size() and returns it. The others keep their order.
  Block remove(std::size_t position);

  /// Removes the oldest entry; size() > 0.
  Block pop_oldest();

  /// Is a block that starts at `address` on the ring?
  [[nodiscard]] bool contains(std::uintptr_t address) const;

 private:
  [[nodiscard]] std::size_t slot(std::size_t position) const { return (oldest_ + position) % kMaxEntries; }

  std::array<Block, kMaxEntries> slots_{};
  std::size_t oldest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_RING_H_
