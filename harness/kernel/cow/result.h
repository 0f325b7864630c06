#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "observe/fault_data.h"

namespace zerotax::cow {

/// What was watched, and how.
struct CowSubject {
  std::vector<std::string> command;  ///< empty: a running process
  pid_t pid = 0;                     ///< of the process watched
  std::string counted;               ///< "all", "first child", or "name NAME"
  double interval_s = 1;
  double wall_s = 0;
  int exit_status = 0;
  std::string started;
  std::optional<std::uint64_t>
      minor_faults;  ///< counted by the kernel (ForegroundResult::all_minor_faults); none: unknown
};

// The fields below are the keys of results/schema/cow.schema.json, which describes them. Fields that earlier
// versions did not write are optional or Measured.

struct Counts {
  std::uint64_t copies = 0;
  std::uint64_t reuses = 0;
  std::uint64_t zero_fills = 0;
  Measured<std::uint64_t> refills;
  std::uint64_t file_faults = 0;
  std::uint64_t other = 0;
  Measured<std::uint64_t> kernel;
  std::uint64_t copied_bytes = 0;
  Measured<std::uint64_t> zeroed_bytes;
  Measured<std::uint64_t> copy_ns;
};

struct Totals : Counts {
  std::uint64_t lost = 0;
  Measured<std::uint64_t> handled;
};

struct Memory {
  Measured<std::uint64_t> rss_bytes;
  Measured<std::uint64_t> pss_bytes;
  Measured<std::uint64_t> vsz_bytes;
};

enum class MappingKind { kHeap, kStack, kFile, kAnonymous, kSpecial, kUnknown };

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  MappingKind kind = MappingKind::kUnknown;
  std::string name;
  Counts counts;
};

struct Process : Memory {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;
  Counts counts;
  std::vector<Mapping> mappings;
};

struct IntervalProcess : Memory {
  pid_t pid = 0;
  bool child = false;
  Counts counts;
};

struct Interval {
  double from_s = 0;
  double to_s = 0;
  std::optional<std::uint64_t> began;
  std::optional<std::uint64_t> ended;
  Counts counts;
  std::vector<IntervalProcess> processes;
};

struct FaultsFile {
  std::string path;
  std::uint64_t written = 0;
  std::uint64_t not_written = 0;
  std::string problem;
};

struct HalfWidths {
  Measured<std::uint64_t> copies;
  Measured<std::uint64_t> reuses;
  Measured<std::uint64_t> zero_fills;
};

struct Sampling {
  std::uint64_t recorded = 0;
  std::uint64_t windows = 0;
  HalfWidths half_width_95;
};

struct Bound {
  std::optional<std::uint64_t> at_least;
  Measured<std::uint64_t> at_most;
};

struct Bounds {
  Bound copies;
  Bound zero_fills;
};

struct InSystemCalls {
  std::uint64_t copies = 0;
  std::uint64_t zero_fills = 0;
};

struct Unwatched {
  pid_t pid = 0;
  std::string name;
  Measured<std::uint64_t> faults;
};

struct Stacks {
  std::uint64_t taken = 0;
  std::uint64_t lost = 0;
  std::uint64_t skipped = 0;
};

struct Code {
  std::string function;
  std::string module;
  Counts counts;
  std::optional<std::string> through;
};

struct CopyingEnd {
  double at_s = 0;
  double child_from_s = 0;
  double child_to_s = 0;
  std::uint64_t copies_until = 0;
  std::uint64_t copies_after = 0;
  std::uint64_t zero_fills_until = 0;
  std::uint64_t zero_fills_after = 0;
  bool operator==(const CopyingEnd&) const = default;
};

enum class Method { kTracepoints, kSoftware };

/// A note on copies without faults, for several processes.
inline constexpr const char* kCopiedByFork =
    "Pages that are pinned for a device (VmPin in /proc/PID/status) are copied by fork itself, without a fault: n/a.";

/// What is said of the counts (verdict.cc); the first versions wrote none.
struct Verdict {
  Measured<CopyingEnd> copying_ended;             ///< when an only child's copying ended
  std::optional<std::string> sentence;            ///< how many pages were copied, by whom, and until when
  std::optional<std::vector<std::string>> notes;  ///< what one has to know to read the counts
};

struct Cow : Verdict, DocumentHead {
  pid_t pid = 0;
  int exit_status = 0;
  Method method = Method::kTracepoints;
  std::string counted;
  double interval_s = 1;
  double wall_s = 0;
  std::uint64_t buffer_bytes = 0;
  OrNull<FaultsFile> faults_file;
  Totals totals;
  Measured<Sampling> sampling;
  Measured<Bounds> bounds;
  Measured<std::uint64_t> unclassified;
  Measured<InSystemCalls> in_system_calls;
  std::optional<std::vector<Unwatched>> unwatched;  ///< nothing: every process was watched
  std::optional<std::vector<pid_t>> running;        ///< nothing: no counted process outlived the program
  std::vector<Process> processes;
  std::vector<Interval> intervals;
  std::optional<std::vector<InterpreterNames>> script_names;
  Measured<Stacks> stacks;
  std::vector<Code> code;
};

/// All but the verdict.
Cow cow_result(const CowSubject& subject, const FaultData& data, Json environment);

Verdict cow_verdict(const Cow& cow);

/// The summary for the terminal: totals, processes, and the mappings and code that copied most.
std::string cow_text(const Cow& cow);

/// The number of copied pages: "5 pages copied (20 KiB)", "about 5 pages copied (20 KiB)", "between 5 and 9 pages
/// copied".
std::string copied_text(const Cow& cow);

/// The count, or "n/a".
std::string known_text(const Measured<std::uint64_t>& count);

/// Why the watch of a process ended and what is missing, without a period.
std::string unwatched_text(const Unwatched& unwatched);

/// Whether totals, and numbers by process, mapping and function, are counts or estimates with an interval. Otherwise
/// there is only a range or a lower bound.
bool are_told_apart(const Cow& cow);

/// "tracepoints", "software".
const char* method_name(Method method);

/// The advice on who should copy less; empty if the counts do not show it.
std::string copies_advice(const Cow& cow);

/// What to do next, as a command to paste: where pages were copied, what other ways there are to take a snapshot of as
/// much memory. Empty where nothing was copied.
std::string next_step(const Cow& cow);

/// The object of "zerotax.cow/1" (results/schema/cow.schema.json).
Json cow_json(const Cow& cow);

/// From such an object, which keeps to its schema, of this version or an earlier one.
Cow read_cow(const Json& json);

/// The heading of the live lines, with its line break. Lines are cut at `columns`, unless it is 0.
std::string cow_heading(std::size_t columns = 0);

/// One interval in live lines, each with its line break: first a line for each child that began or ended, with the time
/// of day; then all that was watched, and, where there are children, a line for each process: the parent, the children
/// that copied most (8 at most), and the others together. A bar has a "@" for each factor of 4 of the copies. `tenths`:
/// times of day to a tenth of a second.
std::string cow_lines(const FaultInterval& interval, bool tenths, std::size_t columns = 0);

}  // namespace zerotax::cow
