#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "files/new_file.h"
#include "observe/address_space.h"
#include "observe/fault.h"
#include "observe/frame.h"
#include "observe/interpreter.h"
#include "observe/unwinder.h"
#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {

/// A region as a mapping, for names.
Unwinder::Mapping code_of(const Region& region);

/// The function that a fault is attributed to.
struct FaultCaller {
  Frame frame;
  std::string through;  ///< the C library's function that it called, which took the fault; empty: itself
  auto operator<=>(const FaultCaller&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// How many of the faults in user mode their stacks are known of.
struct FaultStacks {
  std::uint64_t taken = 0;
  std::uint64_t lost = 0;     ///< the kernel dropped it
  std::uint64_t skipped = 0;  ///< there was no time to unwind it
};

/// Finds which function of a script took a fault: by the instruction, where an interpreter compiled it to memory; or,
/// of stacks that were taken, the innermost function that is a script's, whichever of the interpreter's took the fault.
/// Where a function of the C library took it, such as memset, by its stack which other function called that.
class FaultScripts {
 public:
  explicit FaultScripts(bool stacks) : stacks_(stacks) {}

  /// What the kernel reports, in the order of time. `space`: of the process, before the event; of its parent, of a
  /// fork.
  void apply(const FaultEvent& event, const AddressSpace& space);
  /// `code`: where the instruction lies, or null.
  std::optional<FaultCaller> of(const Fault& fault, const Region* code, const AddressSpace& space);
  /// A process ends, or will be watched no longer: what is known of its interpreter is kept.
  void note(pid_t pid, const AddressSpace& space);

  [[nodiscard]] const ScriptNames& names() const { return names_; }
  [[nodiscard]] const FaultStacks& stacks() const { return counts_; }

 private:
  struct Taken {
    std::uint64_t address = 0;
    std::shared_ptr<UserStack> stack;
  };

  Unwinder& unwinder(pid_t pid, const AddressSpace& space);
  std::optional<FaultCaller> in_stack(const Fault& fault, bool in_c_library, Unwinder& unwinder);

  bool stacks_;
  std::map<pid_t, std::shared_ptr<Unwinder>> unwinders_;  ///< shared with children of fork until they map code
  std::map<pid_t, Taken> taken_;                          ///< by thread, its last one
  ScriptNames names_;
  FaultStacks counts_;
  std::int64_t begin_ns_ = monotonic_ns();
  std::int64_t spent_ns_ = 0;  ///< of CPU time
};

/// How writing a file of faults went.
struct FaultLogResult {
  std::string path;
  std::uint64_t written = 0;      ///< faults, each a line
  std::uint64_t not_written = 0;  ///< faults that found no room there
  std::string problem;            ///< why, as the kernel says it; empty: all were written
};

/// Writes each fault as a line of JSON (results/schema/fault.schema.json) while the program runs. Never waits for a
/// reader while faults are coming: 16 MiB are kept for one that is slow, what comes on top of that is counted and left
/// out. A file that cannot be written on ends with its last whole line.
class FaultLog {
 public:
  /// "-" is standard output. `durations`: whether each fault's begin, and who took it, is known, as it is for root.
  /// Throws UsageError if the file cannot be opened.
  FaultLog(std::string path, bool durations);

  /// `where` and `code` are where the address and the instruction lie; null: not known.
  void add(const Fault& fault, FaultClass kind, std::uint64_t start_ns, const Region* where, const Region* code);
  /// Passes on what is there, as far as it is taken by then.
  void flush(std::chrono::steady_clock::time_point until);
  /// Writes the rest; gives up on a reader that takes nothing for a second. The file takes its place, unless it lacks
  /// faults and would replace another file; then the result names the new file. Call it once.
  FaultLogResult finish();

 private:
  const std::string& quoted(const std::string& name);
  bool drain(int wait_ms);
  void fail(int reason);

  NewFile file_;
  bool regular_;
  bool durations_;
  bool failed_ = false;
  fmt::memory_buffer waiting_;
  std::uint64_t lines_waiting_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t whole_bytes_ = 0;  ///< of them, those up to the end of the last whole line
  FaultLogResult result_;
  std::unordered_map<std::string, std::string> quoted_;
};

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
