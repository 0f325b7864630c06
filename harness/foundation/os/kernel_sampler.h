#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "os/perf_buffer.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Samples what the kernel does for a thread that stays on one CPU, by the software event cpu-clock at equal steps of
/// time. As root it is the CPU that is sampled, and the thread itself knows nothing of perf: a fork of it has nothing
/// to do for that. Else, with kernel.perf_event_paranoid of 1 or less, the thread. Its children are never followed.
/// perf_event_open(2).
class KernelSampler {
 public:
  /// A sample each `period_ns` from now on. Throws MachineError if that is not offered or not permitted, and if the
  /// thread may run on several CPUs.
  KernelSampler(pid_t tid, std::uint64_t period_ns);
  KernelSampler(const KernelSampler&) = delete;
  KernelSampler& operator=(const KernelSampler&) = delete;

  /// Ends it.
  void stop();
  /// Adds the kernel addresses of each sample since the last call, innermost first; none: in user mode.
  void read(std::vector<std::vector<std::uint64_t>>& stacks);
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  /// Whether the CPU is sampled, not the thread.
  [[nodiscard]] bool samples_cpu() const { return samples_cpu_; }

 private:
  pid_t tid_;
  bool samples_cpu_ = false;
  UniqueFd fd_;
  std::vector<PerfBuffer> buffer_;  ///< one, once it is mapped
  std::uint64_t lost_ = 0;
};

}  // namespace zerotax
