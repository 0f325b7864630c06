#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "snapshot/figures.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

struct Mark {
  RESULT("mark", "Values that the figure shows.");
  FIELD(double, slowdown, "The slowdown of the result.");
  FIELD(Measured<double>, memory_share, "Memory added at the peak, as a share of the array.");
  FIELD(double, stopped_ns, "The median of stopped_ns.");
  bool operator==(const Mark&) const = default;
};

template <typename T>
struct WithAndWithout {
  RESULT(std::is_integral_v<T> ? "pair of counts" : "pair", "A metric without a remedy and with it.");
  FIELD(T, without, "Value with the alternative that the remedy improves.");
  FIELD(T, with, "Value with the remedy.");
  bool operator==(const WithAndWithout&) const = default;
};

enum class Effect { kRemoves, kReduces, kNone };
ENUM_WORDS(Effect, "removes", "reduces", "none")

struct Remedy {
  RESULT("remedy", "CPU time and faults that a remedy moves to the helper or saves.");
  FIELD(std::string, of, "Name of the alternative that the remedy improves.");
  FIELD(WithAndWithout<double>, faults, "Medians of writers_faults without the remedy and with it.");
  FIELD(WithAndWithout<double>, writers_system_ns, "Medians of writers_system_ns without the remedy and with it.");
  FIELD(Measured<WithAndWithout<std::uint64_t>>, reuse_faults,
        "The writers' reuse faults on the array after the child's end, in the run of faults_held.");
  FIELD(WithAndWithout<double>, writers_cpu_ns,
        "Sums of writers_system_ns and writers_user_ns, because the kernel divides short times between user and system "
        "time only roughly.");
  FIELD(double, helper_cpu_ns, "Medians of the helper's total CPU time, in user mode and in the kernel.");
  FIELD(double, saved_ns,
        "CPU time that writers and helper together save; negative if writers and helper need more CPU time.", kAnySign);
  FIELD(Effect, effect,
        "Effect on the writers' reuse faults (or on all faults, if reuse faults are unknown). removes: at most 1 % "
        "remain. reduces: at most 90 % remain. none: more than 90 % remain.");
  FIELD(std::string, sentence, "The remedy's effect, saving and cost in words.");
};

struct Result : Figures {
  RESULT("result", "Results of one alternative under one allocator.");
  FIELD(Measured<std::string>, version, "Version of the allocator, or the reason why it is unknown.");
  FIELD(OrNull<std::string>, preload,
        "Path as given to --allocator NAME=PATH; null for a built-in allocator, whose own library is preloaded.");
  MEMBER(env, "Environment variables that configure the allocator.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(std::string, allocator, "Name of the allocator, as given to --allocator.");
  FIELD(std::string, alternative, "Name of the alternative.");
  MEMBER(status,
         "Outcome of the runs. wrong: an element of the snapshot did not have its value at that instant. skipped:"
         " the alternative is unavailable here, or was not run.",
         kStatusWords);
  Status status = Status::kSkipped;
  FIELD(OrNull<std::string>, reason, "Reason for a status that is not ok; null if it is ok.");
  FIELD(std::optional<Threads>, parameters, "Threads and passes of the runs.");
  FIELD(std::optional<std::string>, baseline,
        "The alternative without a snapshot that `slowdown` compares the result with.");
  FIELD(std::uint64_t, runs, "Number of timing runs that finished.");
  BASE_FIELDS(Figures);
  FIELD(Measured<Mark>, mark, "Values that the figure shows, or the reason why the figure omits the result.", kLater);
  FIELD(Measured<Remedy>, remedy,
        "CPU time and faults that the remedy moves from the writers to the helper, and saves.", kLater);

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
  /// Whether a snapshot was taken, checked and timed.
  [[nodiscard]] bool took_snapshot() const { return ok() && checked_elements && writers_wall_ns && stopped_ns; }
  /// The alternative that the result is compared with. Results of earlier versions are compared with `none`.
  [[nodiscard]] std::string compared_with() const { return baseline.value_or("none"); }
  /// Whether the alternative is the published program, or one that the program is compared with.
  [[nodiscard]] bool published() const { return compared_with() != "none"; }
};

struct Parameters : SnapshotParameters {
  RESULT("parameters", "Parameters of each run.");
  BASE_FIELDS(SnapshotParameters);
  MEMBER(repeat, "Number of timing runs of each alternative.", least(1));
  unsigned repeat = 1;
  MEMBER(hold,
         "Share of the array that is copied before the writers resume; the rest is copied after the writers end. null: "
         "the writers do not wait.",
         most(1));
};

struct AlternativeFacts {
  RESULT("alternative", "An alternative that was requested.");
  FIELD(std::string, name, "Name as given to --alternative.");
  FIELD(std::string, summary, "Description of the alternative, in one line.");
  FIELD(OrNull<std::string>, remedy_of,
        "The alternative that this remedy improves; null for an alternative that is not a remedy.", kLater);
  FIELD(std::optional<bool>, published,
        "Whether the alternative is the published program, or is compared with the published program.");
};

struct NextCommand {
  RESULT("next command", "A command that measures more alternatives.");
  FIELD(std::string, command, "The command that measures more alternatives.");
  FIELD(std::string, measures, "Alternatives that the command measures.");
};

struct Advice {
  RESULT("advice", "Alternatives that are better under an allocator.");
  FIELD(std::string, allocator, "Name of the allocator.");
  FIELD(Measured<std::string>, instead_of,
        "The alternative with which the others are compared: fork, or the first alternative with a child.");
  FIELD(
      Measured<std::string>, least_time,
      "The alternative with the least time for the writers, if all its runs are better than those of `instead_of`, by "
      "5 % or more.");
  FIELD(Measured<std::string>, shortest_stop,
        "The alternative that stops the writers for the shortest time, by the rule of `least_time`. Remedies that act "
        "after the child's end are left out.");
  FIELD(Measured<std::string>, least_memory,
        "The alternative that adds the least memory, if the difference from `instead_of` is more than about a tenth.");
  FIELD(Measured<std::string>, least_time_with_child,
        "The alternative with a forked child that has the least time for the writers, by the rule of `least_time`.");
  FIELD(Measured<std::string>, no_faults_after_end,
        "The remedy that removes the faults after the child's end and saves the most CPU time.");
  FIELD(std::vector<NextCommand>, next, "Commands that measure further alternatives, which may be better.");
};

/// The verdict on all results. Each result has its own mark and remedy.
struct Verdict {
  RESULT("verdict");
  FIELD(std::vector<Advice>, advice,
        "For each allocator, the measured alternatives that are better than `instead_of`, and commands that measure "
        "more.",
        kLater);
  FIELD(Measured<std::string>, sentence,
        "The shortest and the longest time that the writers need under the first allocator, in one sentence.", kLater);
  FIELD(OrNull<std::string>, contradiction,
        "The alternatives whose runs took very different times, although all runs do the same work; null if there are "
        "no such alternatives.",
        kLater);
  FIELD(OrNull<std::string>, loss,
        "The alternatives whose fault counts are too low, because the kernel's buffers overflowed; null if no fault "
        "was lost.",
        kLater);
  FIELD(std::vector<std::string>, notes,
        "Notes on the figure of the first allocator, and on the results that the figure lacks, a sentence each.",
        kLater);
};

struct Snapshot : Verdict, DocumentHead {
  RESULT(
      "zerotax snapshot",
      "The document of zerotax snapshot --json: snapshots of an array that threads write to, taken by a forked child "
      "and in other ways, under each allocator. Times are in nanoseconds. A metric that could not be measured is "
      "{\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.snapshot/1");
  VERSION_FIELD();
  FIELD(Completion, state, "State of the run: all clients ran, or the run was stopped early.");
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", kMayBeEmpty, least_items(1));
  ENVIRONMENT_FIELD();
  FIELD(Parameters, parameters, "Parameters of each run.");
  FIELD(std::vector<AlternativeFacts>, alternatives, "The alternatives that were requested.", least_items(1));
  FIELD(std::vector<Result>, results, "One entry for each allocator and alternative.");
  BASE_FIELDS(Verdict);

  /// The alternative that a result's alternative is a remedy for; empty if it is not a remedy.
  [[nodiscard]] std::string remedied_by(const Result& result) const;
  /// Returns null if that combination was not measured.
  [[nodiscard]] const Result* find(const std::string& allocator, const std::string& alternative) const;
  /// The allocators' names without repetition, in the order of the results.
  [[nodiscard]] std::vector<std::string> allocators() const;
};

/// Reads an object of "zerotax.snapshot/1", which this version or an earlier one wrote. The object must already be
/// checked against its schema.
Snapshot read_snapshot(Json json);

/// Adds or replaces the verdict: the mark and remedy of each result, and the verdict on all results.
void add_verdict(Snapshot& snapshot);

/// CPU time and faults that a remedy moves and saves. n/a if the result is not of a remedy, or if the remedy or its
/// original alternative was not measured.
Measured<Remedy> remedy_of(const Snapshot& snapshot, const Result& result);

/// For each allocator, the alternatives that are better than fork. An alternative is recommended only if it was
/// measured and found better. Otherwise, `next` has commands that measure more.
std::vector<Advice> advice_of(const Snapshot& snapshot);

/// The warning about counts of faults that are too low; null if nothing was lost. `lost` names the alternatives or
/// rows, each with the number of its lost faults.
OrNull<std::string> loss_text(const std::vector<std::string>& lost);

}  // namespace zerotax::snapshot
