#pragma once

#include "core.h"

namespace planted {

/// Size from which planted_zeroes_from_*.cc does not zero, because larger blocks would only slow down a search for
/// thresholds.
inline constexpr std::size_t kFirstLarge = std::size_t{4} << 20;

/// Returns a fresh mapping. From `first_zeroed` to less than kFirstLarge bytes, zeroes it needlessly.
inline void* calloc_zeroing_from(std::size_t bytes, std::size_t first_zeroed) {
  void* block = map_block(bytes);
  const bool zeroes = bytes >= first_zeroed && bytes < kFirstLarge;
  return block != nullptr && zeroes ? memset(block, 0, bytes) : block;
}

}  // namespace planted
