#include "core/interrupt.h"

#include <atomic>
#include <csignal>
#include <iterator>

namespace zerotax {
namespace {

std::atomic<int> caught = 0;
constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
struct sigaction before[std::size(kCaught)];
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use no lock");

void on_signal(int number) {
  caught = number;
  ::signal(number, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  for (std::size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i], nullptr, &before[i]);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(number, &action, nullptr);
  }
  // A reader of our output that goes away must not take the results with it.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // nor a limit of file sizes (ulimit -f)
}

void restore_interrupts() {
  for (std::size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i], &before[i], nullptr);
}

int interrupted() { return caught; }

}  // namespace zerotax
