// Unshares its file system attributes, file table and mount namespace in its first call, and calls memset.
#include <sched.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  ::unshare(CLONE_FS | CLONE_FILES | CLONE_NEWNS);
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
