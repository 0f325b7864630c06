// Leaves a memset by a longjmp from the handler of the memset's page fault, then clears the block with another memset.
#include <csetjmp>
#include <csignal>

#include "hostile.h"

namespace {

sigjmp_buf back;
void leave(int) { siglongjmp(back, 1); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* guard = ::mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = leave;
  ::sigaction(SIGSEGV, &action, &before);
  if (sigsetjmp(back, 1) == 0) memset(guard, hidden(0), page_bytes());
  ::sigaction(SIGSEGV, &before, nullptr);
  ::munmap(guard, page_bytes());
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
