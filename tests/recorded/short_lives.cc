// Starts N processes, one after the other, that end at once: short_lives N. None of them lives for as long as a
// sampling period.
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
