// A child of vfork, which shares this memory, calls memset.
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const pid_t child = ::vfork();
    if (child == 0) {
      memset(block, 0, size);  // NOLINT(clang-analyzer-unix.Vfork): what it is planted for
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
  });
}
