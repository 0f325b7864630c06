// calloc raises a signal, and the signal's handler calls memset.
#include <csignal>

#include "hostile.h"

namespace {

char* target = nullptr;
std::size_t target_bytes = 0;
void clear(int) { memset(target, 0, target_bytes); }

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    target = block;
    target_bytes = size;
    ::signal(SIGUSR1, clear);
    ::raise(SIGUSR1);
  });
}
