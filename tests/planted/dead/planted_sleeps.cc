// Sleeps PLANTED_SLEEP seconds in each large calloc, to make a process slow but otherwise well-behaved.
#include <cstdlib>
#include <ctime>

#include "../core.h"

void* planted::large_calloc(std::size_t bytes) {
  const char* seconds = ::getenv("PLANTED_SLEEP");
  const double wanted = seconds != nullptr ? ::atof(seconds) : 0;
  timespec rest{static_cast<time_t>(wanted),
                static_cast<long>((wanted - static_cast<double>(static_cast<long>(wanted))) * 1e9)};
  while (::nanosleep(&rest, &rest) != 0) {
  }
  return map_block(bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
