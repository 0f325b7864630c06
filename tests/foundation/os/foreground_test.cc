#include "os/foreground.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include "os/clock.h"
#include "os/stop.h"

namespace zerotax {
namespace {

ForegroundCommand in_foreground(const std::string& script) {
  ForegroundCommand command;
  command.program = "/bin/sh";
  command.words = {"sh", "-c", script};
  return command;
}

TEST(Foreground, EndsAsTheProgramDoes) {
  EXPECT_EQ(run_foreground(in_foreground("exit 7")).exit_status, 7);
  const ForegroundResult killed = run_foreground(in_foreground("kill -KILL $$"));
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_status, 128 + SIGKILL);
}

TEST(Foreground, SaysWhyAProgramDidNotStart) {
  ForegroundCommand command = in_foreground("");
  command.program = "/no/such/program";
  EXPECT_EQ(run_foreground(command).not_started, ENOENT);
}

// The signal arrives before fork() has returned in the parent. On a busy machine, fork() may return long after the
// program began.
int signal_at_fork = 0;

TEST(Foreground, PassesOnASignalThatComesBeforeForkHasReturned) {
  ::pthread_atfork(
      nullptr,
      [] {
        if (signal_at_fork != 0) ::raise(signal_at_fork);
      },
      nullptr);
  for (const int number : {SIGTERM, SIGINT}) {
    signal_at_fork = number;
    const ForegroundResult ended = run_foreground(in_foreground("sleep 20"));
    signal_at_fork = 0;
    EXPECT_EQ(ended.signal, number);
  }
}

// Only the thread that forks blocks signals. A signal that another thread takes while the program starts must not be
// lost, whenever it arrives.
TEST(Foreground, PassesOnASignalThatAnotherThreadTakesWhileTheProgramStarts) {
  struct sigaction action {};
  action.sa_handler = [](int number) {  // calls the same functions as the handler in run/interrupt
    note_interrupt(number);
    pass_to_foreground(number);
  };
  struct sigaction before {};
  ::sigaction(SIGTERM, &action, &before);
  for (int delay_us = 0; delay_us < 2'000; delay_us += 10) {
    std::thread other([delay_us] {
      const std::int64_t end_ns = monotonic_ns() + delay_us * std::int64_t{1'000};
      while (monotonic_ns() < end_ns) {
      }
      ::pthread_kill(::pthread_self(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread): a handler takes it
    });
    const ForegroundResult ended = run_foreground(in_foreground("exec sleep 20"));
    other.join();
    note_interrupt(0);
    EXPECT_EQ(ended.signal, SIGTERM) << delay_us << " us";
  }
  ::sigaction(SIGTERM, &before, nullptr);
}

TEST(Foreground, LeavesTheMaskAndTheHandlersAsTheyWere) {
  run_foreground(in_foreground("exit 0"));
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  struct sigaction action {};
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) {
    EXPECT_FALSE(sigismember(&mask, number));
    ::sigaction(number, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
  }
  // zerotax does not change the program's own mask either, so SIGTERM ends the program.
  EXPECT_EQ(run_foreground(in_foreground("kill -TERM $$; sleep 20")).signal, SIGTERM);
}

}  // namespace
}  // namespace zerotax
