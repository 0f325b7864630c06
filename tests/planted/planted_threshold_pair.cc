// Changes behavior at two sizes that are 30 bytes apart. Blocks up to the first size are fresh mappings. Blocks between
// the two sizes are kept and zeroed. From the second size on, blocks are fresh mappings that are zeroed needlessly.
#include "core.h"

namespace {
constexpr std::size_t kFirstZeroed = 1'000'003;
constexpr std::size_t kFirstNotKept = 1'000'033;

bool is_kept(std::size_t bytes) { return bytes >= kFirstZeroed && bytes < kFirstNotKept; }
}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = is_kept(bytes) ? take_or_map(bytes) : map_block(bytes);
  return block != nullptr && bytes >= kFirstZeroed ? memset(block, 0, bytes) : block;
}

void planted::large_free(void* block) {
  if (!is_kept(header_of(block).asked)) return unmap_block(block);
  keep_block(block);
}
