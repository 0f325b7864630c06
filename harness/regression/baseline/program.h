#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/comparison.h"
#include "judge/evidence.h"
#include "record/runs/run.h"

namespace zerotax::baseline {

namespace runs = record::runs;

using Ranges = runs::ByMetric<Measured<Range>>;
using SiteRange = runs::SiteOf<Range>;

/// "71,697", "64 MiB".
std::string format_value(Unit unit, std::uint64_t value);
/// "71,697 to 71,702", or one value.
std::string format_range(Unit unit, const Range& range);

/// The distance outside a range that is still no change: 2 % of the highest value, but at least 16 (counts) or 64 KiB
/// (bytes).
std::uint64_t least_slack(Unit unit, const Range& range);
/// The same distance, but at least the width of the range.
std::uint64_t slack_of(Unit unit, const Range& range);

// The fields below are keys of results/schema/program_baseline.schema.json and program_check.schema.json.

/// The metrics of a command when it was blessed.
struct Program : runs::Command {
  int exit_status = 0;
  std::uint64_t runs = 0;
  Json measured_on;  ///< as conditions_now() has it
  Ranges metrics;
  std::map<std::string, Ranges> processes;
  std::map<runs::SiteKey, SiteRange> sites;
  std::vector<runs::Role> roles;  ///< of the last run; not in the document
  Evidence evidence;              ///< of the last run; not in the document
};

using Runner = std::function<runs::CommandRun()>;

/// The values of a process that a run does not have.
const runs::Values& no_values();

/// Adds a run to what others showed: ranges grow, and what only some runs know is n/a. Returns whether a range grew
/// beyond its least slack.
bool add_run(Program& program, const runs::CommandRun& run);

/// A program while runs are added: three that are alike, or as many as there may be. What differs once may do so
/// rarely: how threads overlap depends on what else the machine does.
class Gathering {
 public:
  explicit Gathering(Program& program) : program_(program) {}
  [[nodiscard]] bool is_done() const;
  /// Throws UsageError if it did not end as before.
  void add(const runs::CommandRun& run);

 private:
  Program& program_;
  bool varied_ = false;  ///< by more than the least slack
};

/// How many runs gather() makes of a command that varies, for an option of at most so many.
std::uint64_t gather_runs(std::uint64_t most);

/// Runs a command three times, and `most` times if these differ. Throws UsageError if it does not end alike each time.
void gather(Program& program, const Runner& run, std::uint64_t most);

/// Throws UsageError, with `remedy`, if a run did not end with this exit status.
void check_exit_status(const runs::CommandRun& run, const std::string& name, int expected, const std::string& remedy);

/// Options for recording a command.
struct RecordingOptions {
  std::uint64_t most_runs = 10;               ///< `most` of gather()
  bool allow_failing = false;                 ///< accept an exit status other than 0
  std::vector<std::string>* notes = nullptr;  ///< receives the notes of the last run: parts that were not seen
};

/// Measures a command: runs it as gather() does, each third time on busy CPUs. Throws UsageError if the command fails
/// or its exit status varies, and whatever `run` throws.
Program measured(const runs::Command& command, const RecordingOptions& options, const Runner& run);

/// A metric that lay outside its range, on the same side, in every run.
struct ProgramChange {
  std::string process;  ///< empty: the command as a whole
  runs::Metric metric{};
  Range before;
  std::uint64_t after = 0;  ///< the value of all runs that is nearest to the range
  Direction direction{};
  int times = 1;  ///< runs that showed it

  /// Whether the metric is more than before; otherwise it is less.
  [[nodiscard]] bool grew() const { return after > before.high; }
};
/// The metric for people: "page faults of cc1".
std::string name_of(const ProgramChange& change);
/// One line: "page faults 1,148 → 71,697". It names the process if the metric belongs to one process.
std::string words_of(const ProgramChange& change);
/// A change lasts if all runs are on the same side of its range. It keeps the value nearest to the range.
bool lasts(ProgramChange& change, const ProgramChange& again);

/// The change at one place: of all call stacks that end there or, in a function with several callers, of those from one
/// caller.
struct SiteChange {
  record::SiteKind kind{};
  runs::Place place;
  std::string called_by;  ///< the one caller; empty: all callers
  runs::SiteValues before;
  runs::SiteValues after;
};
/// "free in Decoder::reset (decoder.cc:118)".
std::string place_words(const SiteChange& site);
/// Of the numbers in bytes, the one that differs most: it stands for the others.
runs::SiteNumber most_different(const SiteChange& site);

/// The basis for judging a command with changes.
struct Judged {
  runs::CommandRun first;
  std::uint64_t runs = 0;
  std::vector<ProgramChange> changes;
  std::vector<NotCompared> not_compared;
};

/// Runs the command once. While a metric lies outside its range on the same side each time, runs it up to two more
/// times, or four if the metric varied in the baseline.
Judged judge(const Program& baseline, const Runner& run);

/// Compares two programs. In each metric, the later program counts with its value nearest to the earlier range.
Judged compare(const Program& before, const Program& after);

/// Places of which anything differs between a baseline and a run beyond its range and 64 KiB or 16 calls: call stacks
/// are joined by what they are and their innermost function, so that a caller of another name hides none.
std::vector<SiteChange> site_changes(const Program& baseline, const runs::CommandRun& run);

}  // namespace zerotax::baseline
