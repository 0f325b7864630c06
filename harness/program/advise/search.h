#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/paired_times.h"

namespace zerotax::advise {

/// The metric to reduce.
enum class Goal { kCpu, kWall, kFaults, kMemory, kIdle, kShared };
ENUM_WORDS(Goal, "cpu", "wall", "faults", "memory", "idle", "shared")
inline constexpr Goal kGoals[] = {Goal::kCpu, Goal::kWall, Goal::kFaults, Goal::kMemory, Goal::kIdle, Goal::kShared};
/// Whether the goal is memory: the peak, or the memory at idle.
inline constexpr bool is_memory(Goal goal) { return goal == Goal::kMemory || goal == Goal::kIdle; }
/// Returns the metric that a recommended remedy may not increase much: CPU time if the goal is memory, and otherwise
/// peak memory.
inline constexpr Goal price_of(Goal goal) { return is_memory(goal) ? Goal::kCpu : Goal::kMemory; }

/// Returns the names of the goals, as --goal and the document write them.
std::vector<std::string> goal_names();
/// Throws UsageError if `text` is not the name of a goal.
Goal parse_goal(const std::string& text);

/// The meaning of Figures::idle_bytes.
enum class IdleMeasure { kIdle, kMean };
ENUM_WORDS(IdleMeasure, "idle", "mean")

/// The copies that the count includes.
enum class CopiesSeen { kAll, kUserMode };
ENUM_WORDS(CopiesSeen, "all", "user_mode")

struct Copies {
  RESULT("copies", "Pages that the kernel copied for the processes of a run because a fork had shared the pages.");
  FIELD(Measured<std::uint64_t>, copied_bytes, "Bytes that all processes copied. n/a if the kernel lost events.");
  FIELD(std::uint64_t, by_first_bytes, "Bytes that the program's first process copied.");
  FIELD(std::uint64_t, before_exec_bytes, "Bytes that forked processes copied before they executed another program.");
  FIELD(std::uint64_t, forks, "Number of processes that the program and its descendants started.");
  FIELD(std::uint64_t, execs, "Number of started processes that executed another program.");
  FIELD(Measured<std::uint64_t>, zero_filled_bytes,
        "Bytes of the pages that zero-fill faults populated in all processes.");
  FIELD(CopiesSeen, seen,
        "all: every copy was seen. user_mode: without root, only copies in user mode are seen, and the pages that "
        "processes share decide which faults are copies.");
  FIELD(Measured<std::uint64_t>, at_most_bytes, "Upper bound of copied_bytes. n/a if copied_bytes is exact.");
};

struct Figures {
  RESULT("figures", "Resources that a run used, summed over all its processes.");
  FIELD(double, cpu_s, "CPU time, user and kernel, in seconds; for a server, without the load command.");
  FIELD(double, wall_s, "Wall time in seconds; for a server, wall time of the load command.");
  FIELD(double, faults, "Number of minor page faults.");
  FIELD(double, peak_bytes,
        "Peak resident memory, in bytes: the largest sum over all processes at one time (of PSS, if PSS can be read; "
        "for the goal shared, of RSS).");
  FIELD(Measured<double>, idle_bytes,
        "Resident memory at the last idle moment, in bytes, summed like peak_bytes. At an idle moment, no thread could "
        "run, and the processes had used under 1 % of a CPU for 300 ms; for a server, the moment is after its load. "
        "If a program that is no server was never idle, idle_bytes is its mean memory over the run. "
        "Absent from earlier files.",
        kLater);
  FIELD(std::optional<IdleMeasure>, idle_measure,
        "idle: idle_bytes is memory at an idle moment. mean: the program was never idle. Absent if idle_bytes is n/a.");
  FIELD(std::optional<Copies>, copies, "Copies after forks. Absent unless the goal is shared.");
};

/// Returns the metric of a goal, or nothing if it was not measured. The value is at least a small positive number, so
/// that it has a logarithm.
std::optional<double> figure_of(const Figures& figures, Goal goal);
/// Returns the logarithm of a metric's ratio; nothing if a metric was not measured, or not in the same way.
std::optional<double> log_ratio_of(const Figures& figures, const Figures& to, Goal goal);

/// The outcome of one run.
struct Trial {
  enum class End {
    kOk,
    kFailed,         ///< different exit status from the unchanged program, a signal, or a timeout
    kMoreMemory,     ///< killed because the run took more memory than a trial may take
    kChangedOutput,  ///< different output from the unchanged program
    kStopped,        ///< stopped because a signal interrupted this command
  };
  End end = End::kOk;
  std::string why;  ///< reason for kFailed and kMoreMemory
  Figures figures;
  double took_s = 0;  ///< elapsed time of the run; for a server, with its start and the wait for its memory at idle
};
ENUM_WORDS(Trial::End, "ok", "failed", "more_memory", "changed_output", "stopped")

/// Index that means the unchanged program instead of a candidate.
inline constexpr std::size_t kPresent = static_cast<std::size_t>(-1);

/// The properties of a remedy that the search needs before its runs.
struct Candidate {
  std::size_t settings = 1;
  bool preload = false;
  std::vector<std::size_t> parts;  ///< candidates that this candidate combines; empty if it is no combination
  bool parts_must_gain = false;    ///< whether to try the combination only if each part gained; otherwise it suffices
                                   ///< that no part was clearly worse
};

struct SearchMethod {
  Goal goal = Goal::kCpu;
  double alpha = 0.005;       ///< probability of recommending a remedy that has no effect, however many remedies are
                              ///< tried
  double band = 0.05;         ///< smallest relative gain that counts
  double near = 0.03;         ///< if the costs of two remedies differ by less than this part of the unchanged cost, the
                              ///< simpler remedy is preferred
  double memory_ratio = 1.5;  ///< limit of a remedy's peak memory, as a multiple of the unchanged program's
  double memory_slack = 16 << 20;  ///< number of bytes beyond the unchanged program's peak that any remedy may take
  double other_ratio = 1.25;       ///< limit of a remedy's CPU time if the goal is memory (is_memory), as a multiple of
                                   ///< the unchanged program's
  unsigned most_pairs = 24;
  unsigned most_joined = 6;  ///< maximum number of combinations that are tried
  bool brief = false;        ///< whether the screening has only two short rounds, without combinations
  std::uint64_t seed = 20'161'212;
};

enum class Phase { kWarmUp, kScreen, kConfirm };
ENUM_WORDS(Phase, "warm-up", "screen", "confirm")

struct SearchRun {
  Phase phase;
  unsigned round;         ///< round of the screening or number of the confirmation, both counted from 1; 0 for the
                          ///< first unchanged runs
  std::size_t candidate;  ///< index of the candidate, or kPresent
  Trial trial;
};

/// A candidate's state in the screening.
struct Standing {
  enum class State {
    kNotTried,
    kOk,
    kFailed,
    kMoreMemory,
    kChangedOutput,
  };
  State state = State::kNotTried;
  std::string why;                                       ///< reason for every state except kOk
  bool heavy = false;                                    ///< whether the candidate takes more memory (for the goal
                                                         ///< memory: more CPU time) than a remedy may take
  std::vector<double> log_ratios;                        ///< for each run, the logarithm of the ratio of the goal's
                                                         ///< metric to the unchanged runs before and after
  double score = 0;                                      ///< median of the logarithms
  TimeVerdict::Kind kind = TimeVerdict::Kind::kUnknown;  ///< verdict of the few runs of the screening

  /// Sets the state and its reason if a run did not succeed.
  void note(const Trial& trial);
};

/// Pairs of runs of a candidate and of the unchanged program, made after the screening.
struct Confirmation {
  std::size_t candidate = 0;
  unsigned planned = 0;          ///< number of pairs that a proof needs, given the noise in the screening
  std::vector<Figures> present;  ///< metrics of the unchanged program; the other run of each pair has the same index in
                                 ///< `remedy`
  std::vector<Figures> remedy;
  double alpha = 0;
  std::vector<TimeVerdict> verdicts;  ///< verdicts in the order of kGoals; empty if there were no pairs
  bool confirmed = false;
  std::string why_not;
};

struct SearchResult {
  std::vector<SearchRun> runs;
  std::vector<Standing> standings;  ///< one standing per candidate
  std::vector<Confirmation> confirmations;
  std::optional<std::size_t> winner;        ///< index of the confirmed candidate
  std::optional<std::size_t> faster_still;  ///< index of the best candidate that is too heavy, if it is better than the
                                            ///< winner
  double noise = 0;                         ///< standard deviation of the logarithm of one unchanged run
  bool complete = true;
};

/// Called at the beginning of each part of the search, with its expected number of runs.
using OnPart = std::function<void(const std::string& what, std::size_t runs)>;

/// Runs a candidate, or the unchanged program, once.
using RunOnce = std::function<Trial(std::size_t candidate)>;

/// Returns the verdict on one goal of a finished confirmation.
inline const TimeVerdict& verdict_of(const Confirmation& confirmation, Goal goal) {
  return confirmation.verdicts[static_cast<std::size_t>(goal)];
}

/// Judges the pairs of a confirmation, in the order of kGoals.
std::vector<TimeVerdict> judge_pairs(const Confirmation& confirmation, double band);

/// Runs a candidate once, and notes the run and its outcome. Returns false if a signal stopped the run.
bool run_and_note(SearchResult& result, Phase phase, unsigned round, std::size_t candidate, const RunOnce& run);

/// Returns the maximum number of runs of a search, including confirmation.
std::size_t most_runs(const std::vector<Candidate>& candidates, const SearchMethod& method);

/// Searches for the candidate that is best by the goal, and confirms the gain in new pairs of runs (docs/advise.md).
/// `method.seed` determines all randomness.
SearchResult search_remedies(
    const std::vector<Candidate>& candidates, const SearchMethod& method, const RunOnce& run,
    const OnPart& on_part = [](const std::string&, std::size_t) {});

}  // namespace zerotax::advise
