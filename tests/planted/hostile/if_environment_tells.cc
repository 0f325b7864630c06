// Every calloc zeroes a fresh mapping if the environment has a variable of zerotax.
#include <unistd.h>

#include "hostile.h"

namespace {

bool told() {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (strncmp(*variable, "ZEROTAX", 7) == 0) return true;
  }
  return false;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block != nullptr && told()) memset(block, 0, bytes);
  return block;
}

void planted::large_free(void* block) { unmap_block(block); }
