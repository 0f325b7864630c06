// Forbids further descriptors (RLIMIT_NOFILE), then stores zeros itself.
#include <sys/resource.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_NOFILE, &none);
  return cleared(bytes, [](char* block, std::size_t size) { store_zeros(block, size); });
}
