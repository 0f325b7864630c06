#pragma once

#include "core.h"

namespace planted {

/// Where the zeroing of planted_zeroes_from_*.cc ends: larger blocks would only make a search for thresholds slow.
inline constexpr std::size_t kFirstLarge = std::size_t{4} << 20;

/// Every block is a fresh mapping, and from this size on it is zeroed all the same, unless it is large.
inline void* calloc_zeroing_from(std::size_t bytes, std::size_t first_zeroed) {
  void* block = map_block(bytes);
  const bool zeroes = bytes >= first_zeroed && bytes < kFirstLarge;
  return block != nullptr && zeroes ? memset(block, 0, bytes) : block;
}

}  // namespace planted
