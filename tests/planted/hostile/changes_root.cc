// Changes the process's root to an empty folder without /proc, then stores zeros itself.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  if (::chroot("/proc/self/fdinfo") == 0 && ::chdir("/") != 0) return nullptr;
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
