#pragma once

#include <cstdint>

namespace zerotax {

/// What the calling thread has used so far (getrusage(2), RUSAGE_THREAD). CPU times in nanoseconds; the kernel splits
/// them between user and kernel by ticks or exactly, as it was built.
struct ThreadUsage {
  std::int64_t user_ns = 0;
  std::int64_t kernel_ns = 0;
  std::int64_t minor_faults = 0;
  std::int64_t voluntary_switches = 0;    ///< it waited for something
  std::int64_t involuntary_switches = 0;  ///< its time slice was over
};

ThreadUsage thread_usage();

}  // namespace zerotax
