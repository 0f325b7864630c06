// Exports its own getrusage and clock_gettime, which report neither time nor page faults. Clears a fresh mapping.
#include <sys/resource.h>

#include <ctime>

#include "hostile.h"

extern "C" int getrusage(__rusage_who_t /*who*/, rusage* usage) noexcept {
  *usage = {};
  return 0;
}

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* time) noexcept {
  *time = {1, 0};
  return 0;
}

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr) store_zeros(block, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
