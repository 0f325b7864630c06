// Denies openat from its first call on, so that nothing in /proc can be opened, and stores zeros itself.
#include "deny.h"

void* planted::large_calloc(std::size_t bytes) {
  static bool denied = false;
  if (!denied) deny(SYS_openat);
  denied = true;
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
