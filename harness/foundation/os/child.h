#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "os/huge_pages.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Becomes readable once the process has ended. Empty where the kernel (before 5.3) or a filter refuses, and if there
/// is no such process. pidfd_open(2).
inline UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// The signal that stopped a child of ours which has not been continued since, or 0. Leaves the state to be asked for
/// again.
int stopped_by(pid_t child);

/// Whether a stopped process stopped itself: one of its threads stands at the end of a kill(2), tkill(2), tgkill(2) or
/// rt_sigqueueinfo(2) by which it was stopped, as /proc/PID/task/*/syscall says. False where that cannot be read.
bool stopped_itself(pid_t process);

/// The entries of our environment, with variables added or replaced.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes);

/// A program to run to its end.
struct ChildCommand {
  std::string program;
  std::vector<std::string> arguments;                            ///< without argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours, or replacing
  int inherited_fd = -1;     ///< the one descriptor beyond 0-2 that the child keeps, under this very number
  bool capture = false;      ///< collect standard output and standard error (each cut at 64 KiB)
  bool fixed_layout = true;  ///< switch address randomisation off, where permitted
  HugePages huge_pages = HugePages::kOfSystem;
  std::chrono::milliseconds timeout{30'000};
  std::uint64_t resident_limit = 0;  ///< bytes; 0: no limit
  std::function<bool(pid_t)> watch;  ///< called every 5 ms, if set; true ends the child (kStopped)
};

/// How it ended.
struct ChildResult {
  enum class End { kExited, kSignalled, kTimeout, kMemory, kStopped, kSuspended, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;  ///< exit status; the signal that killed or suspended it; or errno of a start that failed
  const char* failed_call = "";      ///< of a start that failed: "pipe", "fork" or "exec"
  std::chrono::nanoseconds used{0};  ///< how long it ran; time in which it, or we, were stopped does not count
  std::string output;
  std::string errors;
};

/// "SIGABRT"; "signal 35" of one that has no name.
std::string signal_name(int signal);

/// Whether ChildCommand::fixed_layout is permitted here.
bool can_fix_layout();

/// Runs a command to its end. The child gets a process group of its own and is first in line for the kernel's
/// out-of-memory killer. It is killed, with its group, at the timeout, when its resident set passes the limit (looked
/// at every 20 ms), when `stop` answers true, and when it has stopped itself by a signal (kSuspended). The timeout is
/// of the time in which it and we could run: who is stopped by somebody else (SIGSTOP, Ctrl-Z) is waited for. When it
/// has ended, the rest of its group is killed and waited for. Safe to call from several threads.
ChildResult run_child(const ChildCommand& command, const std::function<bool()>& stop);

}  // namespace zerotax
