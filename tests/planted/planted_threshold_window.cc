// Keeps and zeroes blocks only in a window of 64 KiB. A search with two sizes per octave sees the same behavior on both
// sides of the window. With eight sizes per octave, counted from a power of two, 3,526,975 bytes lies inside:
// zerotax thresholds --allocator window=libplanted_threshold_window.so --from 64KiB --to 4MiB --grid 8
#include "core.h"

namespace {
constexpr std::size_t kFirst = 3'500'001;
constexpr std::size_t kEnd = kFirst + (std::size_t{64} << 10);

bool is_kept(std::size_t bytes) { return bytes >= kFirst && bytes < kEnd; }
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  if (!is_kept(bytes)) return map_block(bytes);
  void* block = take_or_map(bytes);
  return block != nullptr ? memset(block, 0, bytes) : nullptr;
}

void planted::large_free(void* block) {
  if (!is_kept(header_of(block).asked)) return unmap_block(block);
  keep_block(block);
}
