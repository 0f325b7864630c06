// Builds one of the allocators in short_*.h.
#include "short_instructions.h"
#if defined(__x86_64__)
#include "short_instructions_x86_64.h"
#else
#include "short_instructions_aarch64.h"
#endif
#include "short_kernel.h"
#include "short_memset.h"
#include "short_sometimes.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = ALLOCATOR::kFresh ? map_block(bytes) : take_or_map(bytes);
  if (block != nullptr) ALLOCATOR::fill(bytes_of(block), bytes);
  return block;
}

void planted::large_free(void* block) { ALLOCATOR::kFresh ? unmap_block(block) : keep_block(block); }
