/* A block of 16 to 32 KiB that grew in place is copied only up to its first size when a later realloc moves it. The
   size of the request is stored by malloc, and the path of realloc that changes nothing else does not store it. */
#include "core.h"

bool resize(struct block* block, size_t bytes) {
  if (is_large(block)) return bytes > kMostSmall && resize_large(block, bytes);
  if (bytes > block->capacity || bytes < block->capacity / 2) return false;
  if (block->capacity < 16 << 10) block->asked = bytes;
  return true;
}
