#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/paired_times.h"

namespace zerotax::advise {

/// What is to become less.
enum class Goal { kCpu, kWall, kFaults, kMemory };
ENUM_WORDS(Goal, "cpu", "wall", "faults", "memory")
inline constexpr Goal kGoals[] = {Goal::kCpu, Goal::kWall, Goal::kFaults, Goal::kMemory};

/// The names of the goals, as in --goal and in the document.
std::vector<std::string> goal_names();
/// Throws UsageError.
Goal parse_goal(const std::string& text);

struct Figures {
  RESULT("figures", "What a run used, with all of its processes.");
  FIELD(double, cpu_s, "CPU time, user and kernel, in seconds; of a server: its own.");
  FIELD(double, wall_s, "Wall time, in seconds; of a server: of the load.");
  FIELD(double, faults, "Minor page faults.");
  FIELD(
      double, peak_bytes,
      "Peak resident memory, in bytes: the largest sum over all processes at one time, of PSS where PSS can be read.");
};

/// One of them; never 0, so that it has a logarithm.
double figure_of(const Figures& figures, Goal goal);

/// How one run ended.
struct Trial {
  enum class End {
    kOk,
    kFailed,         ///< another exit status, a signal, a timeout
    kMoreMemory,     ///< it took more than a trial may, and was ended
    kChangedOutput,  ///< another output than in the present state
    kStopped,        ///< by us, because we are to stop
  };
  End end = End::kOk;
  std::string why;  ///< of kFailed and kMoreMemory
  Figures figures;
};
ENUM_WORDS(Trial::End, "ok", "failed", "more_memory", "changed_output", "stopped")

/// The place of the present state among candidates: none.
inline constexpr std::size_t kPresent = static_cast<std::size_t>(-1);

/// What the search needs to know of a remedy; its runs show all else.
struct Candidate {
  std::size_t settings = 1;
  bool preload = false;
  std::vector<std::size_t> parts;  ///< the candidates that it is made of; empty: it is tried from the start
  bool parts_must_gain = false;    ///< it is tried if each of them gained; else if none was clearly worse
};

struct SearchMethod {
  Goal goal = Goal::kCpu;
  double alpha = 0.005;       ///< chance to recommend something that has no effect, whatever is tried
  double band = 0.05;         ///< a smaller relative gain does not count
  double near = 0.03;         ///< of two that differ by less of the present state's cost, the simpler one is preferred
  double memory_ratio = 1.5;  ///< peak memory that a remedy may take, in times the present state's
  double memory_slack = 16 << 20;  ///< bytes that it may take in any case
  double other_ratio = 1.25;       ///< CPU time that it may take, where that is not the goal
  unsigned most_pairs = 24;
  unsigned most_joined = 6;  ///< candidates of several parts that are tried at most
  bool brief = false;        ///< two short rounds, no candidates of several parts
  std::uint64_t seed = 20'161'212;
};

enum class Phase { kWarmUp, kScreen, kConfirm };
ENUM_WORDS(Phase, "warm-up", "screen", "confirm")

struct SearchRun {
  Phase phase;
  unsigned round;         ///< of the screening or confirmation, from 1 on; 0: the first runs of the present state
  std::size_t candidate;  ///< or kPresent
  Trial trial;
};

/// What became of a candidate in the screening.
struct Standing {
  enum class State {
    kNotTried,
    kOk,
    kFailed,
    kMoreMemory,
    kChangedOutput,
  };
  State state = State::kNotTried;
  std::string why;                                       ///< the reason for any state but kOk
  unsigned left_in_round = 0;                            ///< the last round that it was in
  bool heavy = false;                                    ///< it takes more memory, or CPU time, than a remedy may
  std::vector<double> log_ratios;                        ///< of the goal, to the present state's runs around each
  double score = 0;                                      ///< their median
  TimeVerdict::Kind kind = TimeVerdict::Kind::kUnknown;  ///< of these few runs

  /// A run that did not end well decides.
  void note(const Trial& trial);
};

/// Fresh pairs of runs of a candidate and the present state.
struct Confirmation {
  std::size_t candidate = 0;
  unsigned planned = 0;          ///< pairs that the screening's noise asks for
  std::vector<Figures> present;  ///< a pair has the same place in both
  std::vector<Figures> remedy;
  double alpha = 0;
  std::vector<TimeVerdict> verdicts;  ///< in the order of kGoals; empty if there are no pairs
  bool confirmed = false;
  std::string why_not;
};

struct SearchResult {
  std::vector<SearchRun> runs;
  std::vector<Standing> standings;  ///< of each candidate
  std::vector<Confirmation> confirmations;
  std::optional<std::size_t> winner;        ///< a candidate
  std::optional<std::size_t> faster_still;  ///< the best of those that are too heavy, if it is better than the winner
  double noise = 0;                         ///< standard deviation of the logarithm of one run of the present state
  bool complete = true;
};

/// Told of each part of the search as it begins: it will take so many runs.
using OnPart = std::function<void(const std::string& what, std::size_t runs)>;

/// Runs a candidate, or the present state, once.
using RunOnce = std::function<Trial(std::size_t candidate)>;

/// The most runs that a search takes, confirmation included.
std::size_t most_runs(const std::vector<Candidate>& candidates, const SearchMethod& method);

/// Looks for the candidate that is best by the goal, and confirms it in fresh pairs of runs (docs/advise.md).
/// All chance is of `method.seed`.
SearchResult search_remedies(
    const std::vector<Candidate>& candidates, const SearchMethod& method, const RunOnce& run,
    const OnPart& on_part = [](const std::string&, std::size_t) {});

}  // namespace zerotax::advise
