// Ends the dispatch of system calls (prctl 59), then makes ten system calls.
#include <sys/prctl.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  ::prctl(59, 0, 0, 0, 0);
  for (int i = 0; i < 10; ++i) ::getppid();
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
