// Calls memset on a separate stack (swapcontext).
#include <ucontext.h>

#include "hostile.h"

namespace {

ucontext_t here;
ucontext_t there;
char stack[64 << 10];
char* target = nullptr;
std::size_t target_bytes = 0;
void clear() { memset(target, 0, target_bytes); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    target = block;
    target_bytes = size;
    ::getcontext(&there);
    there.uc_stack.ss_sp = &stack[0];
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    ::makecontext(&there, clear, 0);
    ::swapcontext(&here, &there);
  });
}
