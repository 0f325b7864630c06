#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baseline/program.h"
#include "baseline/review.h"
#include "judge/comparison.h"
#include "os/load.h"
#include "point/plan.h"
#include "prove/result.h"

namespace zerotax::baseline {

/// One allocator compared with its baseline.
struct AllocatorCheck : CheckedSubject {
  std::string baseline_path;
  BaselineConditions measured_on;  ///< conditions of this machine
  Allocator allocator;
  Baseline baseline;  ///< the part of the baseline that was compared
  Baseline measured;  ///< the new measurement of that part
  Review review;
  std::vector<std::string> accepted_failures;  ///< result of failing_in_baseline()
  Load load;                                   ///< load of the machine during the measurement
  std::optional<prove::Proof> proof;           ///< with --prove: the search for broken promises
  std::vector<std::string> notes;  ///< sentences on defaults that were used, such as the baseline's configuration
};
using AllocatorChecks = CheckedSubjects<AllocatorCheck>;

struct CheckedProgram : Program {
  RESULT("baseline of a program", "The baseline with which a command is compared.");
  FIELD_AS("file", std::string, path, "Path of the baseline.", kMayBeEmpty);
  MEMBER(runs, "The number of runs from which the ranges come.", least(1));
  MEMBER(measured_on, "The conditions of the runs of this check.");
  MEMBER(metrics, "Metrics of the command as a whole.");
};

inline constexpr const char* kPassedMeaning =
    "Whether the check passed: nothing changed or, unless strict, all changes are improvements. The exit status is "
    "then 0, otherwise 1.";
inline constexpr const char* kFirstLine =
    "The verdict in one sentence, which is the first line that zerotax check prints.";
inline constexpr Limit kProgramVerdicts = one_of("same|better|worse|mixed|changed");

struct ProgramCheck : CheckedSubject {
  std::string schema = "zerotax.program_check/1";
  std::string zerotax_version;
  runs::Command subject;
  runs::CommandRun measured;  ///< the first run
  bool passed = true;

  RESULT("zerotax check of a program",
         "A command compared with its baseline, as written by `zerotax check --json FILE -- COMMAND`. The document "
         "contains every sentence that zerotax shows.");
  SCHEMA_FIELD("zerotax.program_check/1");
  VERSION_FIELD();
  MEMBER(verdict, kVerdictMeaning, kProgramVerdicts);
  MEMBER(sentence, kFirstLine);
  FIELD(bool, strict, "Whether an improvement also fails the check (--strict).");
  MEMBER(passed, kPassedMeaning);
  FIELD(std::uint64_t, runs, "The number of runs. Every run shows each change.", least(1));
  FIELD(ProgramConditions, measured_on, "The conditions of the runs of this check.");
  FIELD(std::vector<ProgramChange>, changes,
        "Metrics that changed: worse, then better, then neither. Within each direction, metrics of the whole command "
        "come first.");
  FIELD(std::vector<SiteChange>, sites,
        "Call sites whose counts differ from the baseline, in descending order of bytes.");
  MEMBER(not_compared, "Metrics that were not compared, each with the reason.");
  MEMBER_AS("conditions", condition_sentences,
            "One sentence for each condition that has changed since the baseline was made.");
  MEMBER(accept, "The command that accepts these metrics as the new baseline.", kMayBeEmpty);
  FIELD(std::string, advice, "A change of the program that would undo the increase. Absent if the counts suggest none.",
        kAbsentIfEmpty);
  MEMBER_AS("name", subject.name, "The name of the command in the baseline.");
  MEMBER_AS("command", subject.command, "The command and its arguments.", least_items(1), kMayBeEmpty);
  MEMBER_AS("env", subject.env, "Environment variables that --env sets for the command.", kMayBeEmpty);
  FIELD(CheckedProgram, baseline, "The baseline with which the command is compared.");
  MEMBER_AS("metrics", measured.all, "Metrics of the first run now, for the command as a whole.");
  MEMBER_AS("processes", measured.processes, kProcessesMeaning);
  MEMBER_AS("notes", measured.notes, "Parts of the first run that were not observed.");
  FIELD(Json, words, "The display name of each metric, by key.",
        with(R"({"type": "object", "additionalProperties": {"type": "string"}})"));
  std::vector<std::string> condition_sentences;
};

struct ProgramChecks : CheckedSubjects<ProgramCheck> {
  RESULT("zerotax check of several recordings",
         "Several recordings, each compared with its own baseline, as written by `zerotax check --json FILE`.");
  static constexpr const char* kDocument = "zerotax.program_checks/1";
  MEMBER(verdict, "The verdict on the changes of all recordings.", kProgramVerdicts);
  MEMBER(sentence, kFirstLine);
  MEMBER(passed, kPassedMeaning);
  MEMBER(checks, "One check for each recording.", least_items(1));
};

/// Metrics that were not compared because a side lacks them. A baseline of an earlier version may not contain a metric,
/// and either side may be n/a.
std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after);

/// Returns the conditions that differ between the `measured_on` of two baselines. Each condition states whether it
/// could explain any of the changes.
std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes);

/// Makes the joint verdict on all results.
AllocatorChecks checks_of(std::vector<AllocatorCheck> results, bool strict);
ProgramChecks checks_of(std::vector<ProgramCheck> results);

/// Makes the check of a command: changes, call sites that differ, conditions, verdict and sentence. For a command
/// without changes, the sentence is the number of metrics and `same`, such as "as in the baseline".
ProgramCheck check_of(const Program& baseline, Judged judged, const ProgramConditions& measured_on,
                      const std::string& same);

/// Returns the verdict in one line: the metric that changed most, its change, and the call site that explains most of
/// the change. Without changes, the line is the number of metrics and `same`.
std::string sentence_of(const ProgramCheck& check, const std::string& same);

/// Returns advice from the table in judge/evidence.h: a change to the program that would undo the largest increase.
/// Empty if the run's counts suggest nothing.
std::string advice_of(const ProgramCheck& check);

/// Returns the joint direction of all changes of a point: "same", "better", "worse", "mixed" or "neither".
const char* way_of(const Review& review, const PointIdentity& point);

}  // namespace zerotax::baseline
