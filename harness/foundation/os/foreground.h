#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zerotax {

/// A program that takes our place in the foreground: our terminal, our standard streams, our process group.
struct ForegroundCommand {
  std::string program;                                           ///< path
  std::vector<std::string> words;                                ///< argv, argv[0] included
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  void (*before_exec)() = nullptr;                               ///< in the child; async-signal-safe
  bool output_to_errors = false;  ///< the program writes to our standard error in place of standard output
};

struct ForegroundResult {
  int not_started = 0;  ///< errno of a start that failed
  int exit_status = 0;  ///< as a shell reports it: 128 + signal
  int signal = 0;       ///< that ended it, or 0
  pid_t pid = 0;
  std::int64_t started_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;  ///< of it and of those of its descendants that were waited for
  std::int64_t system_ns = 0;
  std::optional<std::uint64_t> minor_faults;  ///< of it alone, until its end, those before its exec included
  std::uint64_t all_minor_faults = 0;         ///< including its descendants that were waited for
};

/// Runs it to its end. What the terminal sends (SIGINT, SIGQUIT) reaches it by itself; SIGTERM, SIGHUP, SIGUSR1 and
/// SIGUSR2 sent to us are passed on, SIGINT and SIGQUIT too if a process sent them. Nothing of this ends us.
ForegroundResult run_foreground(const ForegroundCommand& command);

/// Passes a signal to the program in the foreground, or to the one whose start has begun. Async-signal-safe; for
/// handlers that run_foreground() replaces, which another thread may still be in.
void pass_to_foreground(int number);

}  // namespace zerotax
