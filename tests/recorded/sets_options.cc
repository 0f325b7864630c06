// Makes glibc map each block of 4 MiB separately, by an option that the program sets. The environment cannot change
// this option.
#include <malloc.h>

#include "block.h"

int main() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  for (int i = 0; i < 100; ++i) {
    void* const block = std::malloc(4 << 20);
    std::memset(block, 1, 4 << 20);
    escape(block);
    std::free(block);
  }
  return 0;
}
