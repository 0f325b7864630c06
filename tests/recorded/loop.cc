// Calls calloc(SIZE) CALLS times. Usage: loop SIZE CALLS. Each block is freed before the next call, and nothing is
// written.
#include "block.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::size_t bytes = std::strtoull(argv[1], nullptr, 10);
  for (long calls = std::strtol(argv[2], nullptr, 10); calls > 0; --calls) {
    void* block = std::calloc(1, bytes);
    escape(block);
    std::free(block);
  }
  return 0;
}
