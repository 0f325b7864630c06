#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/comparison.h"
#include "judge/evidence.h"
#include "programs/metrics.h"

namespace zerotax::programs {

// The fields below are keys of results/schema/program_baseline.schema.json and program_check.schema.json.

/// The figures of a command when it was blessed.
struct Program : Command {
  int exit_status = 0;
  std::uint64_t runs = 0;
  Json measured_on;  ///< as conditions_now() has it
  Ranges metrics;
  std::map<std::string, Ranges> processes;
  std::map<SiteKey, SiteRange> sites;
  std::vector<Role> roles;  ///< of the last run; not in the document
  Evidence evidence;        ///< of the last run; not in the document
};

struct Baseline {
  std::vector<Program> programs;
};

/// A metric that lay outside its range, on the same side, in every run.
struct Change {
  std::string process;  ///< empty: the command as a whole
  Metric metric{};
  Range before;
  std::uint64_t after = 0;  ///< the value of all runs that is nearest to the range
  Direction direction{};
  int times = 1;  ///< runs that showed it

  /// Whether the metric is more than before; otherwise it is less.
  [[nodiscard]] bool grew() const { return after > before.high; }
};

/// The metric for people: "page faults of cc1".
std::string name_of(const Change& change);
/// A change lasts if all runs are on the same side of its range. It keeps the value nearest to the range.
bool lasts(Change& change, const Change& again);

/// The change at one place: of all call stacks that end there or, in a function with several callers, of those from one
/// caller.
struct SiteChange {
  record::SiteKind kind{};
  Place place;
  std::string called_by;  ///< the one caller; empty: all callers
  SiteValues before;
  SiteValues after;
};

/// A command compared with its baseline.
struct Check : CheckedSubject {
  Command subject;
  Program baseline;
  CommandRun measured;  ///< the first run
  std::uint64_t runs = 0;
  std::vector<Change> changes;    ///< worse, better, neither; changes of the whole command first
  std::vector<SiteChange> sites;  ///< places that differ, those with most bytes first
  bool strict = false;
  bool passed = true;
  std::string advice;  ///< how the program could change; empty: the counts do not show it
};

/// Several commands, each compared with its own baseline.
using Checks = CheckedSubjects<Check>;

}  // namespace zerotax::programs
