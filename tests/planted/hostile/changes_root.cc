// Changes to an empty root, where there is no /proc, then stores zeros by itself.
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  if (::chroot("/proc/self/fdinfo") == 0 && ::chdir("/") != 0) return nullptr;
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
