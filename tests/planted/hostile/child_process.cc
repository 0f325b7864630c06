// Starts a child process that clears the block, which is shared memory, while calloc waits.
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) {
    block = map_block(bytes);
    if (block == nullptr) return nullptr;
    static_cast<void>(
        ::mmap(block, page_ceiling(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    memset(block, 0, bytes);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return block;
}
