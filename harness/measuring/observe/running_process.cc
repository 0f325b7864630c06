#include "observe/running_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "os/pid_namespace.h"
#include "os/process_info.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr const char* kGiveAnother = "give --pid the PID of a running program (see ps)";

}  // namespace

void check_process(pid_t pid) {
  if (pid <= 0) throw UsageError(fmt::format("invalid PID {}", pid), kGiveAnother);
  if (pid == ::getpid()) throw UsageError(fmt::format("PID {} is zerotax itself", pid), kGiveAnother);
  if (pid == 1 && in_first_pid_namespace().value_or(true)) {
    throw UsageError("PID 1 is the init process, of which all others descend", kGiveAnother);
  }
  const auto facts = process_facts(pid);
  if (!facts) throw UsageError(fmt::format("there is no process {}", pid), kGiveAnother);
  if (facts->process != pid) {
    throw UsageError(fmt::format("{} is a thread of process {}", pid, facts->process),
                     fmt::format("give --pid {}", facts->process));
  }
  if (facts->kernel_thread) throw UsageError(fmt::format("process {} is a thread of the kernel", pid), kGiveAnother);
  if (!is_running(pid)) throw UsageError(fmt::format("process {} has ended (a zombie)", pid), kGiveAnother);
  if (!may_watch(pid, facts->user)) {
    throw MachineError(fmt::format("process {} belongs to another user, or may not be looked at", pid),
                       "run zerotax as root, or with CAP_SYS_PTRACE and CAP_PERFMON (docs/safety.md)");
  }
}

std::string runs_on(const std::vector<pid_t>& processes) {
  const bool one = processes.size() == 1;
  return fmt::format("The process ended, and {} that it had started {} on, unwatched: give --pid {} to watch {}.",
                     format_counted(processes.size(), "process", "processes"), one ? "runs" : "run", processes.front(),
                     one ? "it" : "the first of them");
}

bool may_watch(pid_t pid, uid_t user) {
  if (user == ::geteuid() || ::geteuid() == 0) return true;
  // The kernel checks CAP_SYS_PTRACE when this file is opened (proc_pid_maps(5)).
  return static_cast<bool>(
      UniqueFd(::open(fmt::format("/proc/{}/maps", living_thread(pid)).c_str(), O_RDONLY | O_CLOEXEC)));
}

}  // namespace zerotax
