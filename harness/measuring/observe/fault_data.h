#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <array>
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
#include "observe/copy_writer.h"
#include "observe/fault.h"
#include "observe/fork_tally.h"
#include "observe/frame.h"
#include "observe/interpreter.h"
#include "observe/unwinder.h"
#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {

/// Converts a region to the unwinder's type of mapping, to find the names of functions in the region.
Unwinder::Mapping code_of(const Region& region);

/// The function to which a fault is attributed.
struct FaultCaller {
  Frame frame;
  std::string through;  ///< C library function, called from `frame`, that took the fault; empty if `frame` itself took
                        ///< the fault
  auto operator<=>(const FaultCaller&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Numbers of faults in user mode whose stacks were taken, lost or skipped.
struct FaultStacks {
  std::uint64_t taken = 0;
  std::uint64_t lost = 0;     ///< stacks that the kernel dropped
  std::uint64_t skipped = 0;  ///< stacks that were not unwound for lack of time
};

/// Finds the script function that took a fault. If an interpreter compiled the function to memory, the faulting
/// instruction identifies the function. Otherwise the script function is the innermost one on a recorded stack,
/// whichever function of the interpreter took the fault. If a function of the C library such as memset took the fault,
/// its stack shows which function called it.
class FaultScripts {
 public:
  explicit FaultScripts(bool stacks) : stacks_(stacks) {}

  /// Applies an event. Events must be passed in chronological order. `space` describes the process before the event or,
  /// for a fork, the parent.
  void apply(const FaultEvent& event, const AddressSpace& space);
  /// Returns the script function that took a fault, if any. `code` is the mapping of the instruction, or null.
  std::optional<FaultCaller> of(const Fault& fault, const Region* code, const AddressSpace& space);
  /// Stores in names() which interpreters the process ran. Call this function when the process ends or is no longer
  /// watched.
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
  std::map<pid_t, std::shared_ptr<Unwinder>> unwinders_;  ///< unwinder of each process, shared with its forked children
                                                          ///< until they map code
  std::map<pid_t, Taken> taken_;                          ///< last stack of each thread
  ScriptNames names_;
  FaultStacks counts_;
  std::int64_t begin_ns_ = monotonic_ns();
  std::int64_t spent_ns_ = 0;  ///< CPU time spent unwinding
};

/// Result of writing a file with one line per fault.
struct FaultLogResult {
  std::string path;
  std::uint64_t written = 0;      ///< number of faults written, one per line
  std::uint64_t not_written = 0;  ///< number of faults that could not be written
  std::string problem;            ///< the kernel's message for the failure; empty if all faults were written
};

/// Writes each fault as a line of JSON (results/schema/fault.schema.json) while the program runs. Never waits for a
/// reader while faults arrive: at most 16 MiB are buffered, and further faults are only counted. If a write fails, the
/// file ends with its last whole line.
class FaultLog {
 public:
  /// Opens the file; "-" is standard output. `durations` says whether the start, end and error code of each fault are
  /// known, which only root can see. Throws UsageError if the file cannot be opened.
  FaultLog(std::string path, bool durations);

  /// Adds a fault. `where` is the mapping of the fault's address, and `code` is the mapping of its instruction. A
  /// mapping is null if unknown.
  void add(const Fault& fault, FaultClass kind, std::uint64_t start_ns, const Region* where, const Region* code);
  /// Writes buffered lines until the buffer is empty, the reader accepts no more bytes, or the clock reaches `until`.
  void flush(std::chrono::steady_clock::time_point until);
  /// Writes the rest of the buffer, and gives up if the reader accepts no bytes for a second. Then moves the file to
  /// its final path. If faults are missing and the path already has a file, both files are kept, and the result names
  /// the new file. Call this function once.
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
  std::uint64_t whole_bytes_ = 0;  ///< bytes written up to the end of the last whole line
  FaultLogResult result_;
  std::unordered_map<std::string, std::string> quoted_;
};

/// The faults on one mapping of a process.
struct MappingFaults {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;  ///< path, [heap] or [stack]; empty if the mapping is anonymous
  FaultCounts counts;
};

/// Joins entries of one process that belong to the same growing mapping.
std::vector<MappingFaults> joined(std::vector<MappingFaults> parts);

/// Private memory of a process that the process shares since a fork, in bytes, at the end of an interval. A field is
/// empty if it could not be read.
struct SharedMemory {
  std::optional<std::uint64_t> shared;     ///< in private pages that other processes map, too
  std::optional<std::uint64_t> inherited;  ///< private memory of the parent when it forked this process
  std::uint64_t copied = 0;                ///< copied since the fork; for a parent, since its first fork
  std::uint64_t zeroed = 0;                ///< in zero-fills of the same time
};

/// Copies by one kind of code.
struct WriterCopies {
  Writer writer = Writer::kUnknown;
  std::string module;  ///< for unknown code, file name of the program or library; empty if in no file
  std::uint64_t copies = 0;
  std::uint64_t by_children = 0;
  std::uint64_t bytes = 0;
};

struct TracedProcess {
  pid_t pid = 0;
  pid_t parent = 0;  ///< parent's PID; 0 for the first traced process
  std::string name;
  FaultCounts counts;
  std::optional<FaultCounts> before_exec;  ///< faults before the process first executed another program; empty if the
                                           ///< process never did
  std::vector<MappingFaults> mappings;
  ProcessMemory memory;  ///< memory when last read; all fields are empty if memory was never read
};

/// An interval of the traced time, with its faults.
struct FaultInterval {
  struct Process {
    FaultCounts counts;
    ProcessMemory memory;  ///< memory at the end of the interval, for processes that are still alive
    bool child = false;
    std::string name;
    SharedMemory sharing{};
  };
  /// The start or end of a child process.
  struct Change {
    double at_s = 0;  ///< seconds since tracing began
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;
    bool began = false;
  };
  static constexpr std::size_t kMostChanges = 8;
  double from_s = 0;  ///< seconds since tracing began
  double to_s = 0;
  double ended_at = 0;          ///< end of the interval in seconds since 1970
  std::uint64_t began = 0;      ///< children that began in the interval
  std::uint64_t ended = 0;      ///< children that ended in the interval
  bool sampled = false;         ///< whether some faults since the start of tracing were only counted, not recorded
  bool whole = true;            ///< whether `processes` has all processes whose memory was shared when it was read
  std::vector<Change> changes;  ///< the first kMostChanges changes, in chronological order
  std::map<pid_t, Process> processes;
};

/// A function whose code caused faults.
struct CodeFaults {
  Frame frame;
  std::string through;  ///< C library function, called from `frame`, that took the faults; empty if `frame` itself took
                        ///< the faults
  FaultCounts counts;
};

/// The sampling of faults, if not every fault was recorded. Unrecorded faults are counted, and divided among classes,
/// processes, mappings and functions in the proportions of the next window's faults.
struct FaultSampling {
  std::uint64_t recorded = 0;
  std::uint64_t windows = 0;  ///< windows of time in which faults were recorded
  /// Variance of the total of each class. The variance is estimated from the differences between successive windows and
  /// the number of faults in each window (Wolter, Introduction to Variance Estimation, 2007, 8.2: systematic samples).
  struct Variance {
    double copies = 0;
    double reuses = 0;
    double zero_fills = 0;
  } variance;

  /// Adds `gap` unrecorded faults, and the window after them. The window recorded `all` faults; `counts` has their
  /// classes.
  void add_gap(std::uint64_t gap, std::uint64_t all, const ClassCounts& counts);

 private:
  std::optional<Variance> before_;  ///< shares of the classes in the last window
};

/// A process that the kernel stopped watching at an exec, because its credentials changed or its user may not read the
/// program.
struct UnwatchedProcess {
  pid_t pid = 0;
  std::string name;                     ///< short name of the program
  std::optional<std::uint64_t> faults;  ///< maximum number of faults until the process was watched again; empty if it
                                        ///< was never watched again
};

/// A count that is not exact.
struct CountBounds {
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most;  ///< upper bound; empty if some process was not watched to its end
};

/// Everything that was traced.
struct FaultData {
  std::vector<TracedProcess> processes;  ///< processes in the order in which they began; an exec adds no entry
  std::vector<FaultInterval> intervals;
  std::vector<CodeFaults> code;           ///< most copies first
  std::vector<WriterCopies> writers;      ///< most copies first
  std::uint64_t lost = 0;                 ///< lost events
  std::uint64_t handled = 0;              ///< number of faults of all watched processes, from a counter of the kernel
  std::optional<FaultSampling> sampling;  ///< empty if every fault was recorded
  std::uint64_t buffer_bytes = 0;         ///< size of the kernel's buffer for each CPU
  ScriptNames scripts;                    ///< names from the interpreters that ran
  std::optional<FaultStacks> stacks;      ///< empty if no stacks were taken
  std::optional<FaultLogResult> log;      ///< empty if faults were not written one by one
  std::vector<UnwatchedProcess> unwatched;
  std::vector<pid_t> running;  ///< PIDs of counted processes that still ran after the first process had ended
  /// Bounds over all counted processes; empty if the numbers of copies and zero-fills are exact.
  struct Bounds {
    CountBounds copies;
    CountBounds zero_fills;
  };
  std::optional<Bounds> bounds;
  std::optional<SystemCallPages> in_system_calls;  ///< upper bound of pages missing from the counts; empty if unknown
  std::optional<std::array<ForkSums, kForkWays>> forks;  ///< empty if the calls that start processes were not seen
  bool every_fault = true;  ///< false if only faults in user mode are known, which are then classified by their
                            ///< addresses (PageSharing)
};

}  // namespace zerotax
