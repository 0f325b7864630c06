#include "run/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "os/clock.h"
#include "os/foreground.h"
#include "os/print.h"

namespace zerotax {
namespace {

/// Time in which several signals count as one Ctrl-C, because timeout(1) sends a signal both to its command and to the
/// process group.
constexpr std::int64_t kOneRequestNs = 1'000'000'000;

std::atomic<std::int64_t> first_ns = 0;
constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
struct sigaction before[std::size(kCaught)];
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler may use no lock");

void on_signal(int number);

void handle(int flags) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = flags;
    ::sigaction(number, &action, nullptr);
  }
}

void on_signal(int number) {
  const int saved = errno;
  const std::int64_t now = monotonic_ns();
  std::int64_t none = 0;
  if (first_ns.compare_exchange_strong(none, now)) {
    note_interrupt(number);
    pass_to_foreground(number);
    handle(SA_RESTART);  // further signals must not interrupt the writing of results
  } else if (now - none >= kOneRequestNs) {
    ::signal(number, SIG_DFL);
    ::raise(number);  // takes effect when the handler returns
  }
  errno = saved;
}

}  // namespace

void catch_interrupts() {
  for (std::size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i], nullptr, &before[i]);
  handle(0);  // the first signal must interrupt a waiting call
  // If the output's reader ends, results must still be written.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes (ulimit -f) must not end the process either
}

void restore_interrupts() {
  for (std::size_t i = 0; i < std::size(kCaught); ++i) ::sigaction(kCaught[i], &before[i], nullptr);
}

void say_interrupted(const std::string& what) { try_to_print(stderr, "zerotax: interrupted: " + what + "\n"); }

}  // namespace zerotax
