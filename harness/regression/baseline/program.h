#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "judge/comparison.h"
#include "judge/evidence.h"
#include "record/runs/run.h"

namespace zerotax::baseline {

namespace runs = record::runs;

using Ranges = runs::ByMetric<Measured<Range>>;
using SiteRange = runs::SiteOf<Range>;

/// Returns a value in words, such as "71,697" or "64 MiB".
std::string format_value(Unit unit, std::uint64_t value);
/// Returns a range in words, such as "71,697 to 71,702", or one value.
std::string format_range(Unit unit, const Range& range);

/// Returns the smallest distance from a range that counts as a change: 2 % of the highest value, but at least 16
/// (counts) or 64 KiB (bytes).
std::uint64_t least_slack(Unit unit, const Range& range);
/// Returns least_slack of a metric's range, but at least the width of the range; only the width for a metric that is
/// compared exactly.
std::uint64_t slack_of(const record::runs::MetricRow& row, const Range& range);

struct ProgramConditions {
  RESULT("conditions of a program",
         "The conditions of a run other than the program, in words; unknown if a condition could not be read.");
  FIELD(std::string, kernel, "Release of the kernel.");
  FIELD(std::string, thp, "Setting of transparent huge pages: always, madvise or never.");
  FIELD(std::string, libc, "C library and its version.");
  FIELD(std::string, aslr,
        "Address layout of the programs: fixed, or random if the system does not permit fixed addresses.");
  FIELD(std::string, allocator,
        "The allocator to which the programs made the most calls: the C library with its version, or the library's "
        "file.");
  FIELD(std::string, cpus, "Number of CPUs.");
  FIELD(std::string, page_bytes, "Size of a page, in bytes.");
  FIELD(std::string, zerotax, "Version of zerotax that made the runs.");
};

/// The words for runs::SiteKey::kind in documents.
inline constexpr Limit kSiteKinds = one_of("calloc|malloc|realloc|free|by_hand|by_program|purge|program");
inline constexpr const char* kSiteKindMeaning =
    "The call: calloc, malloc, realloc or free; by_hand: memset over a new block; by_program: memset over other "
    "memory; purge: a purge by the allocator itself; program: system calls of the program.";

struct SiteEntry : runs::SiteKey, SiteRange {
  RESULT("site", "A call stack of a program.");
  MEMBER(kind, kSiteKindMeaning, kSiteKinds);
  MEMBER(stack,
         "The program's own functions with their files, innermost first. These functions identify the call stack in "
         "another build.",
         kMayBeEmpty);
  MEMBER(place, "The innermost of the program's own functions in the stack, with the line of the call.");
  MEMBER(numbers, "Counts of the calls and of their bytes.");
};
struct ProgramSites : std::map<runs::SiteKey, SiteRange> {
  using Written = std::vector<SiteEntry>;
};
void to_json(Json& json, const ProgramSites& sites);
void from_json(const Json& json, ProgramSites& sites);

using ProcessRanges = std::map<std::string, Ranges>;
inline constexpr const char* kProcessesMeaning =
    "The same metrics for each process name. Processes with the same file name are counted together.";

/// The metrics of a command when it was blessed.
struct Program : runs::Command {
  RESULT("program", "A command, and its metrics over several runs.");
  BASE_FIELDS(runs::Command);
  FIELD(int, exit_status, "The exit status of each run.", most(255));
  FIELD(std::uint64_t, runs, "The number of runs from which the ranges come.", least(1));
  FIELD(ProgramConditions, measured_on, "The conditions of the runs.");
  FIELD(Ranges, metrics, "Metrics of the command as a whole, all processes together.");
  FIELD(ProcessRanges, processes, kProcessesMeaning);
  FIELD(ProgramSites, sites, "Call stacks that allocated, zeroed or returned at least 64 KiB.");
  std::vector<runs::Role> roles;  ///< from the last run; absent from the document
  Evidence evidence;              ///< from the last run; absent from the document
};

struct Programs {
  RESULT("zerotax baseline of programs",
         "Metrics of commands that do not depend on a clock. `zerotax bless -- COMMAND` writes them, and `zerotax "
         "check -- COMMAND` reads them.");
  static constexpr const char* kDocument = "zerotax.program_baseline/1";
  FIELD(std::vector<Program>, programs, "The commands, each with a unique name.", least_items(1));
};

using Runner = std::function<runs::CommandRun()>;

/// Values of zero, for a process that a run does not have.
const runs::Values& no_values();

/// Adds a run to the ranges of a program. A metric that is missing from some runs becomes n/a. Returns whether any
/// range grew by more than its least slack.
bool add_run(Program& program, const runs::CommandRun& run);

/// Collects runs of a program: three if they agree, otherwise the maximum number. Thread timing depends on other load,
/// so one difference suggests that there are rarer differences.
class Gathering {
 public:
  explicit Gathering(Program& program) : program_(program) {}
  [[nodiscard]] bool is_done() const;
  /// Adds a run. Throws UsageError if the exit status of the run differs from that of earlier runs.
  void add(const runs::CommandRun& run);

 private:
  Program& program_;
  bool varied_ = false;  ///< whether a range grew by more than the least slack
};

/// Returns the number of runs that gather() makes of a command that varies.
std::uint64_t gather_runs(std::uint64_t most);

/// Runs a command three times, and up to `most` times if the runs differ. Throws UsageError if the command's exit
/// status varies.
void gather(Program& program, const Runner& run, std::uint64_t most);

/// Throws UsageError, with `remedy`, if a run did not end with the exit status `expected`.
void check_exit_status(const runs::CommandRun& run, const std::string& name, int expected, const std::string& remedy);

/// Options for recording a command.
struct RecordingOptions {
  std::uint64_t most_runs = 10;               ///< the limit `most` of gather()
  bool allow_failing = false;                 ///< accept an exit status other than 0
  std::vector<std::string>* notes = nullptr;  ///< receives the notes of the last run on parts that were not observed
};

/// Measures a command as gather() does, with every third run on busy CPUs. Throws UsageError if the command fails or
/// its exit status varies, and any error that `run` throws.
Program measured(const runs::Command& command, const RecordingOptions& options, const Runner& run);

struct ProgramChange {
  RESULT("program change", "A metric that lay outside its range, on the same side, in every run.");
  FIELD(std::string, process, "Name of the processes; null for the command as a whole.", kNullIfEmpty);
  FIELD(runs::Metric, metric, "Key of the metric.", with(R"({"type": "string"})"));
  FIELD(Direction, direction,
        "Whether the metric costs more or less than before; neither if the metric is not a cost.");
  FIELD(Range, before, "The range of the metric in the baseline.");
  FIELD(std::uint64_t, after, "The value nearest to the baseline's range, among the values of all runs of this check.");
  FIELD(std::string, line, "The change, in words.", kMayBeEmpty);
  int times = 1;  ///< number of runs in which the metric lies outside of its range

  /// Whether the metric increased; otherwise it decreased.
  [[nodiscard]] bool grew() const { return after > before.high; }
};
/// Returns the metric as text, such as "page faults of cc1".
std::string name_of(const ProgramChange& change);
/// Returns the factor by which the metric grew or shrank. Adds least_slack to both values, so that a change from 0 to 1
/// gives a small factor.
double times(const ProgramChange& change);
/// Returns one line such as "page faults 1,148 → 71,697". The line names the process if the metric belongs to one
/// process.
std::string words_of(const ProgramChange& change);
/// Returns whether a change lasts: both runs lie on the same side of the metric's range. Of the two values, stores the
/// value that is nearer to the range.
bool lasts(ProgramChange& change, const ProgramChange& again);

struct SiteChange {
  RESULT("site change",
         "The change of all call stacks that end at one call site. In a function with several callers, each caller is "
         "a separate call site.");
  FIELD(record::SiteKind, kind, kSiteKindMeaning, kSiteKinds);
  FIELD(runs::Place, place, "The call site in the later run.");
  FIELD(std::string, called_by, "The caller, if the function has several callers; empty for all callers.", kMayBeEmpty);
  FIELD(runs::SiteValues, before, "Counts in the baseline: in each range, the value nearest to the new count.");
  FIELD(runs::SiteValues, after, "Counts in the first run of the check.");
  FIELD(std::string, line, "The call site in words.", kMayBeEmpty);
};
/// Returns the call site in words, such as "free in Decoder::reset (decoder.cc:118)".
std::string place_words(const SiteChange& site);
/// Returns the byte count of the call site that differs most.
runs::SiteNumber most_different(const SiteChange& site);

/// The input of the verdict on a command.
struct Judged {
  runs::CommandRun first;
  std::uint64_t runs = 0;
  std::vector<ProgramChange> changes;
  std::vector<NotCompared> not_compared;
};

/// Runs the command once. While a metric stays outside its range on the same side, runs the command again, up to two
/// times. If the metric varied in the baseline, the limit is four times.
Judged judge(const Program& baseline, const Runner& run);

/// Compares two programs. For each metric, the value of the later program is the one nearest to the earlier range.
Judged compare(const Program& before, const Program& after);

/// Returns the call sites that differ between a baseline and a run by more than their range and 64 KiB or 16 calls.
/// Call stacks are joined by kind and innermost function, so that a renamed caller hides no change.
std::vector<SiteChange> site_changes(const Program& baseline, const runs::CommandRun& run);

}  // namespace zerotax::baseline
