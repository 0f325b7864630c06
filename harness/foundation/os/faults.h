#pragma once

#include <cstdint>

namespace zerotax {

/// Minor page faults of the calling thread so far (getrusage(2), RUSAGE_THREAD): faults that needed no input or output.
/// Before Linux 6.0 major faults, too, as which it counts those on shared memory. Negative if the kernel does not say.
std::int64_t thread_minor_faults();

/// The same of all threads of the process together, those that have ended included.
std::int64_t process_minor_faults();

/// What the kernel took to populate fresh memory.
struct FaultSample {
  std::uint64_t bytes;
  std::uint64_t faults;  ///< minor faults of the thread; 0: no memory could be mapped
  std::uint64_t cpu_ns;  ///< by the thread's clock
};

enum class PageKind { kAsSet, kBase, kHuge };  ///< kAsSet: as the system is set up

/// Maps fresh memory, writes to each page of `bytes` (for kHuge: whole huge pages), and unmaps it. Allocates
/// nothing.
FaultSample measure_fault_cost(std::uint64_t bytes, PageKind pages);

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
