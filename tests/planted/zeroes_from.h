#pragma once

#include "core.h"

/// Every block is a fresh mapping, and from this size on it is zeroed all the same: what planted_zeroes_from_*.cc
/// share.
namespace planted {

inline void* calloc_zeroing_from(std::size_t bytes, std::size_t first_zeroed) {
  void* block = map_block(bytes);
  return block != nullptr && bytes >= first_zeroed ? memset(block, 0, bytes) : block;
}

}  // namespace planted
