// Parent, child and grandchild record COUNT numbers each, before and after the fork, and at the same time. Usage: forks
// COUNT [_exit]
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "numbers.h"

ZEROTAX_EVENT(only_in_child, (uint64_t, who))

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const bool at_once = argc > 2 && std::strcmp(argv[2], "_exit") == 0;
  std::uint64_t who = 0;
  record_numbers(who, count);
  pid_t child = 0;
  while (who < 2 && (child = ::fork()) == 0) {
    ++who;
    zerotax::record(only_in_child{.who = who});
    record_numbers(who, count);
    // Threads of a child also have streams.
    std::thread(record_numbers, who + 10, count, 0).join();
  }
  if (child > 0) record_numbers(who, count, count);
  int status = 0;
  while (::wait(&status) > 0) {
  }
  if (at_once) ::_exit(0);
  return 0;
}
