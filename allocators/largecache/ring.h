// The cache itself ("death row" in libmalloc): freed blocks in the order of their frees. A pure data structure: no
// lock, no system call, no allocation.
//
// libmalloc-116 keeps an array of 16 with indices `newest` and `oldest`, and removes an entry by shifting the newer
// entries down. If the ring is wrapped and the entry lies above `newest`, libmalloc shifts the older entries up
// (src/magazine_large.c, large_malloc). The order of time stays the same in both cases, so the difference is invisible.
// Here the newer entries always move. A count distinguishes empty from full; libmalloc checks for a zero address
// instead.
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

  /// Returns the entry at `position` < size(), where 0 is the oldest.
  [[nodiscard]] const Block& at(std::size_t position) const { return slots_[slot(position)]; }

  /// Returns the latest entry. Requires size() > 0.
  [[nodiscard]] Block& newest() { return slots_[slot(size_ - 1)]; }

  /// Adds `block` as the newest entry. If the ring held `capacity` (1..kMaxEntries) or more entries, removes and
  /// returns the oldest.
  std::optional<Block> push(const Block& block, std::size_t capacity);

  /// Returns the position of the smallest entry of at least `size` bytes whose address is a multiple of `alignment` (a
  /// power of two). Of equal entries, returns the newest.
  [[nodiscard]] std::optional<std::size_t> best_fit(std::size_t size, std::size_t alignment) const {
    return best_fit(size, alignment, [](const Block& /*block*/) { return true; });
  }

  /// Like the other best_fit(), but only among the entries for which `suits` returns true.
  [[nodiscard]] std::optional<std::size_t> best_fit(std::size_t size, std::size_t alignment,
                                                    bool (*suits)(const Block& block)) const;

  /// Returns the position of the longest entry of less than `size` bytes for which `suits` returns true. Of equal
  /// entries, returns the newest.
  [[nodiscard]] std::optional<std::size_t> longest_below(std::size_t size, bool (*suits)(const Block& block)) const;

  /// Removes the entry at `position` < size() and returns it. The other entries keep their order.
  Block remove(std::size_t position);

  /// Removes and returns the oldest entry. Requires size() > 0.
  Block pop_oldest();

  /// Whether a block that starts at `address` is in the ring.
  [[nodiscard]] bool contains(std::uintptr_t address) const;

 private:
  [[nodiscard]] std::size_t slot(std::size_t position) const { return (oldest_ + position) % kMaxEntries; }

  std::array<Block, kMaxEntries> slots_{};
  std::size_t oldest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_RING_H_
