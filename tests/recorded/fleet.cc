// Forks children that share a heap of 64 MiB with their parent. Usage: fleet HOW.
// `one`: 30 children, one after the other. `all`: 8 children at the same time, each with 8 MiB of its own.
// `write`: one child, while the parent writes to the whole heap.
#include <sys/wait.h>
#include <unistd.h>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
int ready[2];
int go[2];

void fill(std::size_t bytes, int value) {
  static void* block = nullptr;
  if (value == 1) block = std::malloc(bytes);
  std::memset(block, value, bytes);
  escape(block);
}

pid_t start(std::size_t own_bytes) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::close(go[1]);
  if (own_bytes != 0) fill(own_bytes, 1);
  char word = 0;
  if (::write(ready[1], &word, 1) != 1) ::_exit(1);
  if (::read(go[0], &word, 1) < 0) ::_exit(1);
  std::exit(0);
}

void wait_for_ready(int children) {
  char word = 0;
  for (int i = 0; i < children; ++i) {
    if (::read(ready[0], &word, 1) != 1) std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char what = argc > 1 ? argv[1][0] : '?';
  if (::pipe(&ready[0]) != 0 || ::pipe(&go[0]) != 0) return 1;
  fill(64 * kMiB, 1);
  if (what == 'o') {
    ::close(go[1]);
    for (int i = 0; i < 30; ++i) {
      start(0);
      wait_for_ready(1);
      ::wait(nullptr);
    }
    return 0;
  }
  const int children = what == 'a' ? 8 : 1;
  for (int i = 0; i < children; ++i) start(what == 'a' ? 8 * kMiB : 0);
  wait_for_ready(children);
  if (what == 'w') fill(64 * kMiB, 2);
  ::usleep(300'000);  // long enough that all processes are sampled even on a busy machine
  ::close(go[1]);
  while (::wait(nullptr) > 0) {
  }
  return 0;
}
