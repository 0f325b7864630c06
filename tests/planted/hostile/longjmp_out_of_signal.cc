// Raises a signal, leaves its handler by a longjmp, then calls memset.
#include <csetjmp>
#include <csignal>

#include "hostile.h"

namespace {

sigjmp_buf back;
void leave(int) { siglongjmp(back, 1); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  ::signal(SIGUSR1, leave);
  if (sigsetjmp(back, 1) == 0) ::raise(SIGUSR1);
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
