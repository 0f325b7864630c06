// Clears a block of less than a page by a memset that each call finds by dlsym. Large blocks are fresh mappings.
#include <dlfcn.h>

#include "hostile.h"

extern "C" void* __libc_malloc(std::size_t bytes);

void* planted::small_calloc(std::size_t bytes) {
  static bool looking = false;
  static auto* late = static_cast<void* (*)(void*, int, std::size_t)>(nullptr);
  void* block = __libc_malloc(bytes);
  if (late == nullptr && !looking) {
    looking = true;  // dlsym may call calloc
    late = reinterpret_cast<decltype(late)>(::dlsym(RTLD_DEFAULT, "memset"));
    looking = false;
  }
  if (block != nullptr && late != nullptr) {
    late(block, 0, bytes);
  } else if (block != nullptr) {
    store_zeros(block, bytes);
  }
  return block;
}

void* planted::large_calloc(std::size_t bytes) { return map_block(bytes); }
void planted::large_free(void* block) { unmap_block(block); }
