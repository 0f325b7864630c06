// Starts N processes, one after the other. Usage: short_lives N. Each process ends at once, within less than a sampling
// period.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

int main(int count, char** words) {
  for (long i = count == 2 ? std::atol(words[1]) : 0; i > 0; --i) {
    const pid_t child = ::fork();
    if (child < 0) return 1;
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  }
  return 0;
}
