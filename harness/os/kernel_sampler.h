#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "os/perf_buffer.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Samples what the kernel does for one thread, by the software event cpu-clock at equal steps of the thread's CPU
/// time. Its children are not followed, so that a fork that is sampled does nothing for perf. perf_event_open(2); needs
/// root, or kernel.perf_event_paranoid of 1 or less.
class KernelSampler {
 public:
  /// A sample each `period_ns` from now on. Throws MachineError if that is not offered or not permitted.
  KernelSampler(pid_t tid, std::uint64_t period_ns);
  KernelSampler(const KernelSampler&) = delete;
  KernelSampler& operator=(const KernelSampler&) = delete;

  /// Ends it.
  void stop();
  /// Adds the kernel addresses of each sample since the last call, innermost first; none: in user mode.
  void read(std::vector<std::vector<std::uint64_t>>& stacks);
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  UniqueFd fd_;
  std::vector<PerfBuffer> buffer_;  ///< one, once it is mapped
  std::uint64_t lost_ = 0;
};

}  // namespace zerotax
