// Records COUNT numbers and ends by HOW: returns, exit, _exit, abort, segv, kill, exec.
// Usage: endings HOW COUNT
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "numbers.h"

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "returns";
  record_numbers(0, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000);
  if (how == "exit") std::exit(0);
  if (how == "_exit") ::_exit(0);
  if (how == "abort") std::abort();
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "exec") ::execl(argv[0], argv[0], "returns", argv[2], nullptr);
  return 0;
}
