#include "observe/running_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "os/pid_namespace.h"
#include "os/process_info.h"

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
  if (::geteuid() != 0 && facts->user != ::geteuid()) {
    throw MachineError(fmt::format("process {} belongs to another user, or may not be looked at", pid),
                       "run zerotax as root");
  }
}

}  // namespace zerotax
