// Records in a loop, and in the handler of a timer that interrupts the loop every 20 µs. Prints the two counts as "MAIN
// HANDLER". The loop ends after MILLISECONDS, but only once the handler has run 30 times.
// Usage: handlers MILLISECONDS
#include <sys/time.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "numbers.h"

namespace {

volatile std::uint64_t handled = 0;

void handle(int /*signal*/) {
  record_numbers(1, 1, handled);
  handled = handled + 1;
}

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  const double end = now() + (argc > 1 ? std::atof(argv[1]) : 200);
  struct sigaction action {};
  action.sa_handler = handle;
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval timer{{0, 20}, {0, 20}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
  std::uint64_t count = 0;
  do {
    record_numbers(0, 1000, count);
    count += 1000;
  } while (now() < end || handled < 30);
  timer = {};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
  std::printf("%llu %llu\n", static_cast<unsigned long long>(count), static_cast<unsigned long long>(handled));
  return zerotax_trace_lost() == 0 ? 0 : 1;
}
