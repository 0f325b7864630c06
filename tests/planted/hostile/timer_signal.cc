// Stores zeros in the handler of a timer's signal, while calloc waits for the handler.
#include <sys/time.h>

#include <csignal>

#include "hostile.h"

namespace {

char* volatile target = nullptr;
std::size_t target_bytes = 0;
void clear(int) {
  if (target != nullptr) planted::store_zeros(target, target_bytes);
  target = nullptr;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    target_bytes = size;
    target = block;
    ::signal(SIGALRM, clear);
    const itimerval soon{{0, 0}, {0, 200}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    while (target != nullptr) instructions::pause();
  });
}
