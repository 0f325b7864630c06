// calloc raises a signal. The signal's handler blocks every other signal, makes a system call and stores zeros.
#include <unistd.h>

#include <csignal>

#include "hostile.h"

namespace {

char* target = nullptr;
std::size_t target_bytes = 0;
void clear(int) {
  ::getppid();
  planted::store_zeros(target, target_bytes);
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    target = block;
    target_bytes = size;
    struct sigaction action {};
    action.sa_handler = clear;
    ::sigfillset(&action.sa_mask);
    ::sigaction(SIGUSR1, &action, nullptr);
    ::raise(SIGUSR1);
  });
}
