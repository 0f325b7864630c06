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

/// Opens a descriptor that becomes readable once the process has ended (pidfd_open(2), since Linux 5.3). The descriptor
/// is empty if the process does not exist, or if the kernel or a filter refuses the call.
inline UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// Returns the signal that stopped one of our children, or 0 if the child is not stopped. Later queries return the same
/// state.
int stopped_by(pid_t child);

/// Whether a stopped process stopped itself. If so, /proc/PID/task/TID/syscall shows a thread at the end of the
/// kill(2), tkill(2), tgkill(2) or rt_sigqueueinfo(2) that sent the signal. Returns false if the file cannot be read.
bool stopped_itself(pid_t process);

/// Returns the entries of our environment, with variables added or replaced.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes);

/// A program to run until it ends.
struct ChildCommand {
  std::string program;
  std::vector<std::string> arguments;                            ///< arguments without argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables added to our environment, or replacing
                                                                 ///< variables in it
  int inherited_fd = -1;     ///< the only descriptor beyond 0-2 that the child keeps, under the same number
  bool capture = false;      ///< whether to collect standard output and standard error (each cut at 64 KiB)
  bool fixed_layout = true;  ///< whether to switch address randomization off, where permitted
  HugePages huge_pages = HugePages::kOfSystem;
  std::chrono::milliseconds timeout{30'000};
  std::uint64_t resident_limit = 0;  ///< limit of the resident set in bytes; 0 means no limit
  std::function<bool(pid_t)> watch;  ///< if set, called every 5 ms; the child is ended (kStopped) if it returns true
};

/// The end of a command, and its output.
struct ChildResult {
  enum class End { kExited, kSignalled, kTimeout, kMemory, kStopped, kSuspended, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;  ///< exit status; the signal that killed or suspended the command; or the errno of a failed start
  const char* failed_call = "";  ///< the call that failed at a failed start: "pipe", "fork" or "exec"
  std::chrono::nanoseconds used{
      0};  ///< running time of the command, without the time in which the command or this process was stopped
  std::string output;
  std::string errors;
};

/// Returns a signal's name such as "SIGABRT", or "signal 35" if it has none.
std::string signal_name(int signal);

/// Whether the system permits ChildCommand::fixed_layout.
bool can_fix_layout();

/// Runs a command until it ends. The child gets a process group of its own and is first in line for the kernel's
/// out-of-memory killer. The child and its group are killed at the timeout, when the resident set exceeds its limit
/// (checked every 20 ms), and when `stop` returns true. They are also killed when the child has stopped itself with a
/// signal (kSuspended). The timeout counts only time in which both the child and this process could run. A child that
/// another process stopped (SIGSTOP, Ctrl-Z) is therefore waited for. After the child's end, the rest of its group is
/// killed and reaped. Thread-safe.
ChildResult run_child(const ChildCommand& command, const std::function<bool()>& stop);

}  // namespace zerotax
