// Returns shared file mappings with one non-zero byte, in an untouched page near the end.
#include "shared_block.h"

void* planted::large_calloc(std::size_t bytes) {
  return map_shared(bytes, [&](int file) {
    const char dirt = 1;
    return ::pwrite(file, &dirt, 1, static_cast<off_t>(bytes - 5000)) == 1;
  });
}

void planted::large_free(void* block) { unmap_block(block); }
