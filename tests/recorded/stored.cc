// A program at a fixed address that stores the address of calloc, and calls it three times for 2 MB each.
#include <cstdlib>

#include "block.h"

int main() {
  void* (*volatile stored)(std::size_t, std::size_t) = std::calloc;
  for (int i = 0; i < 3; ++i) {
    void* const block = stored(1, 2'000'000);
    escape(block);
    std::free(block);
  }
  return 0;
}
