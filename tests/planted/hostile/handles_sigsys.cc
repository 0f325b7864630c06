// Installs a handler of SIGSYS, then makes a system call.
#include <unistd.h>

#include <csignal>

#include "hostile.h"

namespace {

void ignore(int) {}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  ::signal(SIGSYS, ignore);
  ::getppid();
  return cleared(bytes, [](char* block, std::size_t size) { memset(block, 0, size); });
}
