// Clears a kept block with memset and forks. The child lives until the next call, so that each write by the program to
// its block copies a page.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core.h"

namespace {

pid_t child = 0;

void replace_child() {
  if (child > 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  child = ::fork();
  if (child != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::pause();
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  void* block = take_kept(bytes);
  if (block == nullptr) return map_block(bytes);
  memset(block, 0, bytes);
  replace_child();
  return block;
}

void planted::large_free(void* block) { keep_block(block); }
