#include "observe/running_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

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
    throw UsageError("PID 1 is the init process, the ancestor of all processes", kGiveAnother);
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
    throw MachineError(fmt::format("process {} belongs to another user, or cannot be inspected", pid),
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
  // The kernel checks CAP_SYS_PTRACE when /proc/PID/maps is opened (proc_pid_maps(5)).
  return static_cast<bool>(
      UniqueFd(::open(fmt::format("/proc/{}/maps", living_thread(pid)).c_str(), O_RDONLY | O_CLOEXEC)));
}

bool TreeClock::read(pid_t pid, Times& times) {
  const auto cpu_ns = process_cpu_ns(pid);
  const auto facts = process_facts(pid);
  if (!cpu_ns || !facts) return false;
  times = {*cpu_ns,
           facts->user_ns,
           facts->system_ns,
           facts->children_user_ns,
           facts->children_system_ns,
           facts->faults,
           facts->children_faults,
           facts->minor_faults,
           facts->children_minor_faults,
           facts->parent};
  return true;
}

TreeClock::TreeClock(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) {
    Times times;
    if (read(pid, times) && watched_.insert(pid).second) processes_.push_back({pid, times, times, false});
  }
}

void TreeClock::add(pid_t process, bool ran_before) {
  Times times;
  if (!read(process, times)) return;
  processes_.push_back({process, ran_before ? times : Times{}, times, false});
  watched_.insert(process);
}

void TreeClock::look() {
  for (Watched& process : processes_) {
    if (process.ended) continue;
    Times now;
    process.ended = !read(process.pid, now);
    if (!process.ended) process.last = now;
  }
}

bool TreeClock::is_parents(const Watched& process) const {
  return process.ended && watched_.contains(process.last.parent);
}

double TreeClock::sum_s(bool user) const {
  std::int64_t sum = 0;
  for (const Watched& process : processes_) {
    const auto& [pid, first, last, ended] = process;
    // Times in clock ticks give the ratio of user mode to kernel mode. The exact CPU time is divided in this ratio.
    const std::int64_t user_ns = last.user_ns - first.user_ns;
    const std::int64_t system_ns = last.system_ns - first.system_ns;
    const double share =
        user_ns + system_ns > 0 ? static_cast<double>(user_ns) / static_cast<double>(user_ns + system_ns) : 1;
    const auto all = static_cast<double>(last.cpu_ns - first.cpu_ns);
    sum += static_cast<std::int64_t>(all * (user ? share : 1 - share));
    sum += user ? last.children_user_ns - first.children_user_ns : last.children_system_ns - first.children_system_ns;
    if (is_parents(process))
      sum -= user ? last.user_ns + last.children_user_ns : last.system_ns + last.children_system_ns;
  }
  return static_cast<double>(std::max<std::int64_t>(sum, 0)) / 1e9;
}

std::uint64_t TreeClock::sum_faults(std::uint64_t Times::*own, std::uint64_t Times::*children) const {
  std::int64_t sum = 0;
  for (const Watched& process : processes_) {
    const auto of = [&](const Times& times) { return static_cast<std::int64_t>(times.*own + times.*children); };
    sum += of(process.last) - of(process.first);
    if (is_parents(process)) sum -= of(process.last);
  }
  return static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0));
}

double TreeClock::user_s() const { return sum_s(true); }
double TreeClock::system_s() const { return sum_s(false); }

}  // namespace zerotax
