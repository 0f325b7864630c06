// Limits its stack to 128 KiB and forbids descriptors before the program begins, then calls memset.
#include <sys/resource.h>

#include "hostile.h"

[[gnu::constructor]] static void limit() {
  const rlimit stack{128 << 10, 128 << 10};
  const rlimit files{0, 0};
  ::setrlimit(RLIMIT_STACK, &stack);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
