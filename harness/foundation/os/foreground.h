#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zerotax {

/// A program that runs in the foreground instead of this process, with the same terminal, standard streams and process
/// group.
struct ForegroundCommand {
  std::string program;                                           ///< path
  std::vector<std::string> words;                                ///< argv, including argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to our environment, or replacing variables
                                                                 ///< in it
  void (*before_exec)() = nullptr;                               ///< called in the child; must be async-signal-safe
  bool output_to_errors = false;  ///< whether the program writes to our standard error in place of standard output
};

struct ForegroundResult {
  int not_started = 0;  ///< errno of a failed start
  int exit_status = 0;  ///< status as a shell reports it: the exit status, or 128 + signal
  int signal = 0;       ///< the signal that ended the program, or 0
  pid_t pid = 0;
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;  ///< CPU time of the program and its descendants that were waited for
  std::int64_t system_ns = 0;
  std::optional<std::uint64_t> minor_faults;  ///< faults of the program alone until its end, including the faults
                                              ///< before its exec
  std::uint64_t all_minor_faults = 0;         ///< faults including descendants that were waited for
};

/// Runs a program until it ends. Signals from the terminal (SIGINT, SIGQUIT) reach the program directly. SIGTERM,
/// SIGHUP, SIGUSR1 and SIGUSR2 sent to this process are passed on. SIGINT and SIGQUIT are passed on if a process sent
/// them. None of these signals ends this process.
ForegroundResult run_foreground(const ForegroundCommand& command);

/// Passes a signal to the foreground program, even while the program is being started. Async-signal-safe. The handlers
/// that run_foreground() replaces call this function too, because another thread may still be in one of them.
void pass_to_foreground(int number);

/// Makes pass_to_foreground() count this signal, one of those that are passed on, instead of passing it on. Call this
/// before run_foreground().
void keep_from_foreground(int number);
/// Returns the number of signals that were kept.
unsigned kept_signals();

}  // namespace zerotax
