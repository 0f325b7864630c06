// Calls memset in a signal handler that has its own stack.
#include <csignal>

#include "hostile.h"

namespace {

char* target = nullptr;
std::size_t target_bytes = 0;
void clear(int) { memset(target, 0, target_bytes); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    static char stack[64 << 10];
    const stack_t own{&stack[0], 0, sizeof stack};
    ::sigaltstack(&own, nullptr);
    target = block;
    target_bytes = size;
    struct sigaction action {};
    action.sa_handler = clear;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGUSR1, &action, nullptr);
    ::raise(SIGUSR1);
  });
}
