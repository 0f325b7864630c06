// Changes the personality of the process, and calls memset.
#include <sys/personality.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  ::personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC);
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
