#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// Whose perf events are taken.
struct PerfScope {
  std::vector<pid_t> processes{};  ///< that run, and all that they start
  int cgroup = -1;                 ///< whatever runs in it: a folder of the hierarchy of perf events
  bool machine = false;            ///< whatever runs
  bool has_us = false;             ///< we are in it, or in the cgroup, and not meant
  bool light = false;  ///< without what costs a busy server several percent: tracepoints, counts in its threads

  /// Processes may be among them that nobody in it has started. It takes the right to watch CPUs.
  [[nodiscard]] bool is_open() const { return cgroup >= 0 || machine; }
};

/// perf_event_open(2) on one CPU (-1: any) of one thread (0: the calling one; -1: all, for a scope's cgroup if it has
/// one).
inline UniqueFd open_perf_event(perf_event_attr& attributes, pid_t thread, int cpu, const PerfScope& scope = {}) {
  const bool in_cgroup = thread == -1 && scope.cgroup >= 0;
  return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, in_cgroup ? scope.cgroup : thread, cpu,
                                             -1, PERF_FLAG_FD_CLOEXEC | (in_cgroup ? PERF_FLAG_PID_CGROUP : 0UL))));
}

}  // namespace zerotax
