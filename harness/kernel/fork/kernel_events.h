#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fork/target.h"
#include "os/kernel_events.h"

namespace zerotax::fork {

/// Pages that the kernel takes for itself in forks: page tables, kernel stacks, its own objects. Not those of the
/// programs, which fork shares.
struct KernelPages {
  struct Order {
    std::uint64_t allocations = 0;
    std::uint64_t zeroed = 0;  ///< of these, the kernel clears
  };
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;                ///< allocations that were not reported
  std::map<unsigned, Order> orders;      ///< of all forks, by the power of two of pages that lie beside each other
  std::int64_t parent_table_bytes = -1;  ///< page tables of the parent, but for the topmost (page_table_bytes)

  /// Pages of a fork, on average.
  [[nodiscard]] double pages() const;
  [[nodiscard]] double zeroed_pages() const;
  /// Allocations of a fork of more than one page, on average.
  [[nodiscard]] double contiguous() const;
};

/// Counts them in some forks of the target. Throws MachineError where tracepoints are not permitted.
KernelPages count_kernel_pages(ForkTarget& target);

/// A part of clone(2) between two tracepoints of the kernel.
struct ForkPhase {
  const char* name;
  const char* begins;  ///< "sys_enter_clone"
  const char* ends;
  const char* does;
};

/// One after the other, without a gap. copy_process() takes the lock of the parent's memory for dup_mmap() alone.
const std::vector<ForkPhase>& fork_phases();

/// Plain forks, each cut at its tracepoints.
struct ForkPhaseTimes {
  std::uint64_t lost = 0;        ///< events
  std::uint64_t incomplete = 0;  ///< forks that lack an event, left out
  /// Nanoseconds of each fork: as many numbers as there are phases.
  std::vector<std::vector<double>> forks;
};

/// Forks `forks` times. Throws MachineError where tracepoints are not permitted, or one is missing.
ForkPhaseTimes time_phases(ForkTarget& target, std::uint32_t forks);

/// The phases of the forks in these events, which are in the order of time; `kinds` as time_phases opens them.
ForkPhaseTimes phases_of(const std::vector<KernelEvent>& events, const std::vector<KernelEventKind>& kinds);

/// The kinds of event that the phases need. Throws MachineError.
std::vector<KernelEventKind> phase_kinds();

}  // namespace zerotax::fork
