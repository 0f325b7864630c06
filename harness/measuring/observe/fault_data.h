#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/fault.h"
#include "observe/fault_log.h"
#include "observe/fault_scripts.h"
#include "observe/frame.h"
#include "os/process_info.h"

namespace zerotax {

/// The faults on one mapping of a process.
struct MappingFaults {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;  ///< path, [heap], [stack]; empty: anonymous
  FaultCounts counts;
};

/// Joins what was one mapping that grew. `parts`: of one process.
std::vector<MappingFaults> joined(std::vector<MappingFaults> parts);

struct TracedProcess {
  pid_t pid = 0;
  pid_t parent = 0;  ///< 0: the one that tracing began with
  std::string name;
  FaultCounts counts;
  std::vector<MappingFaults> mappings;
  ProcessMemory memory;  ///< when it was looked at last; all empty if it never was
};

/// A part of the time.
struct FaultInterval {
  struct Process {
    FaultCounts counts;
    ProcessMemory memory;  ///< at its end; of those that live then
    bool child = false;
    std::string name;
  };
  /// A child that began or ended.
  struct Change {
    double at_s = 0;  ///< since tracing began
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;
    bool began = false;
  };
  static constexpr std::size_t kMostChanges = 8;
  double from_s = 0;  ///< since tracing began
  double to_s = 0;
  double ended_at = 0;          ///< seconds since 1970, of to_s
  std::uint64_t began = 0;      ///< children, in the interval
  std::uint64_t ended = 0;      ///< children
  bool sampled = false;         ///< not every fault has been recorded so far
  std::vector<Change> changes;  ///< the first kMostChanges of them, in the order of time
  std::map<pid_t, Process> processes;
};

/// Code that caused faults: a function, by the instruction that took them.
struct CodeFaults {
  Frame frame;
  std::string through;  ///< the C library's function that it called, and that took them; empty: itself
  FaultCounts counts;
};

/// How many faults were recorded one by one, where not all were. The others were counted, and are divided among
/// classes, processes, mappings and functions as those of the next window are.
struct FaultSampling {
  std::uint64_t recorded = 0;
  std::uint64_t windows = 0;  ///< of time
  /// Of totals of each class, by the difference from each window to the next (Wolter, Introduction to Variance
  /// Estimation, 2007, 8.2: systematic samples) and by the number of faults in it.
  struct Variance {
    double copies = 0;
    double reuses = 0;
    double zero_fills = 0;
  } variance;

  /// `gap`: faults that were not recorded; then came a window of `all` faults, with these counts.
  void add_gap(std::uint64_t gap, std::uint64_t all, const ClassCounts& counts);

 private:
  std::optional<Variance> before_;  ///< shares of the classes in the last window
};

/// A process whose watch the kernel ended at an exec, because its credentials changed or its user may not read the
/// program.
struct UnwatchedProcess {
  pid_t pid = 0;
  std::string name;                     ///< of the program
  std::optional<std::uint64_t> faults;  ///< at most, until the process was watched again; empty: it never was
};

/// A count that is not exact.
struct CountBounds {
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most;  ///< empty: some process was not watched to its end
};

/// All that was traced.
struct FaultData {
  std::vector<TracedProcess> processes;  ///< in the order of their beginning; an exec makes no new one
  std::vector<FaultInterval> intervals;
  std::vector<CodeFaults> code;           ///< most copies first
  std::uint64_t lost = 0;                 ///< events
  std::uint64_t handled = 0;              ///< faults of all processes that are watched, by a counter of the kernel's
  std::optional<FaultSampling> sampling;  ///< if not every fault was recorded
  std::uint64_t buffer_bytes = 0;         ///< of the kernel, for each CPU
  ScriptNames scripts;                    ///< of the interpreters that ran
  std::optional<FaultStacks> stacks;      ///< if they were taken
  std::optional<FaultLogResult> log;      ///< if the faults were written one by one
  std::vector<UnwatchedProcess> unwatched;
  std::vector<pid_t> running;  ///< counted processes that outlived the first one, which started them
  /// Bounds over all counted processes; empty if copies and zero-fills are exact.
  struct Bounds {
    CountBounds copies;
    CountBounds zero_fills;
  };
  std::optional<Bounds> bounds;
  std::optional<SystemCallPages> in_system_calls;  ///< an upper bound of pages that the counts lack; empty: unknown
  bool every_fault = true;  ///< false: only faults in user mode, classified by their addresses (PageSharing)
};

}  // namespace zerotax
