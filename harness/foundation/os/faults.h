#pragma once

#include <cstdint>

namespace zerotax {

/// Returns how many minor page faults (faults without input or output) the calling thread has taken so far
/// (getrusage(2), RUSAGE_THREAD). Before Linux 6.0, the number includes major faults, because those kernels count
/// faults on shared memory as major. Negative if the count is unavailable.
std::int64_t thread_minor_faults();

/// Returns how many minor page faults all threads of the process, including ended threads, have taken so far. Negative
/// if the count is unavailable.
std::int64_t process_minor_faults();

/// The cost of populating fresh memory.
struct FaultSample {
  std::uint64_t bytes;
  std::uint64_t faults;  ///< minor faults of the thread; 0 if no memory could be mapped
  std::uint64_t cpu_ns;  ///< CPU time of the thread
};

enum class PageKind { kAsSet, kBase, kHuge };  ///< kAsSet follows the system's setting

/// Maps fresh memory, writes to each page of `bytes` bytes, and unmaps the memory. For kHuge, `bytes` must be whole
/// huge pages. Allocates nothing.
FaultSample measure_fault_cost(std::uint64_t bytes, PageKind pages);

/// Resources that the calling thread has used so far (getrusage(2), RUSAGE_THREAD). CPU times are in nanoseconds. The
/// kernel's build decides whether user and kernel time are split exactly or by ticks.
struct ThreadUsage {
  std::int64_t user_ns = 0;
  std::int64_t kernel_ns = 0;
  std::int64_t minor_faults = 0;
  std::int64_t voluntary_switches = 0;    ///< context switches because the thread waited for something
  std::int64_t involuntary_switches = 0;  ///< context switches because the thread used up its time slice
};

ThreadUsage thread_usage();

}  // namespace zerotax
