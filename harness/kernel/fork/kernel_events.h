#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fork/target.h"
#include "os/kernel_events.h"

namespace zerotax::fork {

/// Pages that the kernel takes for itself in forks: page tables, kernel stacks and its own objects. Pages of programs
/// are not included, because fork shares them.
struct KernelPages {
  struct Order {
    std::uint64_t allocations = 0;
    std::uint64_t zeroed = 0;  ///< allocations that the kernel clears
  };
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;                ///< allocations that were not reported
  std::map<unsigned, Order> orders;      ///< allocations of all forks, by order (binary logarithm of the number of
                                         ///< adjacent pages)
  std::int64_t parent_table_bytes = -1;  ///< page tables of the parent except the topmost (page_table_bytes)

  /// Average number of pages per fork.
  [[nodiscard]] double pages() const;
  [[nodiscard]] double zeroed_pages() const;
  /// Average number of allocations of more than one page per fork.
  [[nodiscard]] double contiguous() const;
};

/// Counts the pages that the kernel takes for itself in some forks of the target. Throws MachineError if tracepoints
/// are not permitted.
KernelPages count_kernel_pages(ForkTarget& target);

/// A part of clone(2) between two tracepoints of the kernel.
struct ForkPhase {
  const char* name;
  const char* begins;  ///< such as "sys_enter_clone"
  const char* ends;
  const char* does;
};

/// The phases of a fork, which follow each other without a gap. copy_process() takes the lock of the parent's memory
/// only for dup_mmap().
const std::vector<ForkPhase>& fork_phases();

/// Times of plain forks, each divided at its tracepoints.
struct ForkPhaseTimes {
  std::uint64_t lost = 0;        ///< events
  std::uint64_t incomplete = 0;  ///< forks left out because an event is missing
  /// Nanoseconds of each phase, for each fork.
  std::vector<std::vector<double>> forks;
};

/// Makes `forks` forks. Throws MachineError if tracepoints are not permitted, or if a tracepoint is missing.
ForkPhaseTimes time_phases(ForkTarget& target, std::uint32_t forks);

/// Returns the phases of the forks in these events, which are ordered by time. `kinds` comes from phase_kinds().
ForkPhaseTimes phases_of(const std::vector<KernelEvent>& events, const std::vector<KernelEventKind>& kinds);

/// Returns the kinds of event that the phases need. Throws MachineError if an event is unavailable.
std::vector<KernelEventKind> phase_kinds();

}  // namespace zerotax::fork
