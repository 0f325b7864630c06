#include "advise/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/estimates.h"
#include "advise/screening.h"
#include "base/nearest.h"
#include "run/experiment.h"

namespace zerotax::advise {
namespace {

/// Maximum number of confirmations. Each confirmation has an equal part of alpha (Bonferroni).
constexpr std::size_t kMostConfirmations = 2;

/// Returns the logarithm of the remedy's metric divided by the unchanged program's, for each pair in which both runs
/// have the metric.
std::vector<double> log_ratios_of(const Confirmation& confirmation, Goal goal) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < confirmation.present.size(); ++i) {
    const auto ratio = log_ratio_of(confirmation.remedy[i], confirmation.present[i], goal);
    if (ratio) ratios.push_back(*ratio);
  }
  return ratios;
}

double ratio_of(const Confirmation& confirmation, Goal goal) {
  std::vector<double> ratios;
  for (const double log_ratio : log_ratios_of(confirmation, goal)) ratios.push_back(std::exp(log_ratio));
  return median(ratios);
}

class Confirming {
 public:
  Confirming(const SearchMethod& method, const RunOnce& run, const OnPart& on_part, SearchResult& result)
      : method_(method), run_(run), on_part_(on_part), result_(result), order_(method.seed + 1) {}

  /// Returns false if a signal stopped a run.
  bool confirm(std::size_t candidate) {
    Confirmation& confirmation = result_.confirmations.emplace_back();
    confirmation.candidate = candidate;
    confirmation.alpha = method_.alpha / kMostConfirmations;
    confirmation.planned =
        pairs_needed(result_.standings[candidate].score, result_.noise, confirmation.alpha, method_.most_pairs);
    on_part_(fmt::format("confirming in {} pairs", confirmation.planned), std::size_t{2} * confirmation.planned);
    while (confirmation.present.size() < confirmation.planned) {
      if (!pair(confirmation)) return false;
      if (!confirmation.why_not.empty()) return true;
    }
    judge_it(confirmation);
    return true;
  }

 private:
  bool pair(Confirmation& confirmation) {
    const bool present_first = order_.first_goes_first();
    Figures figures[2];
    for (const bool second : {false, true}) {
      const bool is_present = present_first != second;
      const std::size_t candidate = is_present ? kPresent : confirmation.candidate;
      Trial trial = run_(candidate);
      if (trial.end == Trial::End::kStopped) return false;
      const auto round = static_cast<unsigned>(result_.confirmations.size());
      result_.runs.push_back({Phase::kConfirm, round, candidate, trial});
      figures[is_present ? 0 : 1] = trial.figures;
      if (trial.end == Trial::End::kOk || is_present) continue;
      result_.standings[candidate].note(trial);
      confirmation.why_not = trial.end == Trial::End::kFailed       ? "a run with the remedy failed"
                             : trial.end == Trial::End::kMoreMemory ? "a run with the remedy took too much memory"
                                                                    : "a run with the remedy changed the program's "
                                                                      "output";
      return true;
    }
    confirmation.present.push_back(figures[0]);
    confirmation.remedy.push_back(figures[1]);
    return true;
  }

  void judge_it(Confirmation& confirmation) {
    confirmation.verdicts = judge_pairs(confirmation, method_.band);
    const TimeVerdict& verdict = confirmation.verdicts[static_cast<std::size_t>(method_.goal)];
    const Goal other = price_of(method_.goal);
    double extra = 0;
    for (std::size_t i = 0; i < confirmation.present.size(); ++i) {
      extra = std::max(extra, *figure_of(confirmation.remedy[i], other) - *figure_of(confirmation.present[i], other));
    }
    const bool memory = other == Goal::kMemory;
    const bool heavy = ratio_of(confirmation, other) > (memory ? method_.memory_ratio : method_.other_ratio) &&
                       (!memory || extra > method_.memory_slack);
    if (verdict.kind != TimeVerdict::Kind::kFaster) {
      confirmation.why_not = "the gain was not confirmed";
    } else if (heavy) {
      confirmation.why_not = memory ? "the remedy took too much memory" : "the remedy took too much CPU time";
    } else {
      confirmation.confirmed = true;
    }
  }

  const SearchMethod& method_;
  const RunOnce& run_;
  const OnPart& on_part_;
  SearchResult& result_;
  PairOrder order_;
};

/// Returns the best candidate that is too heavy, if that candidate gains noticeably more than the winner.
std::optional<std::size_t> faster_still(const SearchResult& result, const SearchMethod& method) {
  const double winner = result.winner ? result.standings[*result.winner].score : 0;
  double best = winner - std::log1p(method.band);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < result.standings.size(); ++i) {
    const Standing& standing = result.standings[i];
    if (standing.state != Standing::State::kOk || !standing.heavy || standing.score >= best) continue;
    best = standing.score;
    found = i;
  }
  return found;
}

}  // namespace

void Standing::note(const Trial& trial) {
  if (trial.end == Trial::End::kOk) return;
  state = trial.end == Trial::End::kFailed       ? State::kFailed
          : trial.end == Trial::End::kMoreMemory ? State::kMoreMemory
                                                 : State::kChangedOutput;
  why = trial.why;
}

std::vector<TimeVerdict> judge_pairs(const Confirmation& confirmation, double band) {
  std::vector<TimeVerdict> verdicts;
  CompareMethod compare;
  compare.alpha = confirmation.alpha;
  compare.band = band;
  compare.floor_ns = 0;
  for (const Goal goal : kGoals) {
    verdicts.push_back(judge_times({{log_ratios_of(confirmation, goal)}}, compare).front());
  }
  return verdicts;
}

bool run_and_note(SearchResult& result, Phase phase, unsigned round, std::size_t candidate, const RunOnce& run) {
  const Trial trial = run(candidate);
  if (trial.end == Trial::End::kStopped) return false;
  result.runs.push_back({phase, round, candidate, trial});
  if (candidate == kPresent) return true;
  Standing& standing = result.standings[candidate];
  if (standing.state == Standing::State::kNotTried) standing.state = Standing::State::kOk;
  standing.note(trial);
  return true;
}

std::size_t most_runs(const std::vector<Candidate>& candidates, const SearchMethod& method) {
  const auto first = static_cast<std::size_t>(
      std::count_if(candidates.begin(), candidates.end(), [](const Candidate& each) { return each.parts.empty(); }));
  // Candidates that drop out in the first round have two runs.
  const std::size_t again = method.brief ? 0 : first * 4 / 3 + 1;
  const std::size_t second = method.brief ? first : (first + 1) / 2 + method.most_joined;
  // The factor 4 / 3 includes the unchanged runs in between. The finalists take 10 runs in the last round.
  return 3 + first * 4 / 3 + again + 2 * (second * 4 / 3 + 1) + 10 + std::size_t{2} * method.most_pairs;
}

SearchResult search_remedies(const std::vector<Candidate>& candidates, const SearchMethod& method, const RunOnce& run,
                             const OnPart& on_part) {
  SearchResult result;
  Screening screening(candidates, method, run, on_part, result);
  result.complete = screening.run();
  if (!result.complete) return result;
  std::vector<std::size_t> finalists = screening.finalists();
  if (finalists.size() > kMostConfirmations) finalists.resize(kMostConfirmations);
  Confirming confirming(method, run, on_part, result);
  for (const std::size_t finalist : finalists) {
    result.complete = confirming.confirm(finalist);
    if (!result.complete) break;
    if (!result.confirmations.back().confirmed) continue;
    result.winner = finalist;
    break;
  }
  result.faster_still = faster_still(result, method);
  return result;
}

std::vector<std::string> goal_names() { return all_words<Goal>(); }

Goal parse_goal(const std::string& text) {
  for (const Goal goal : kGoals) {
    if (text == word(goal)) return goal;
  }
  refuse_word(fmt::format("invalid --goal '{}'", text), text, goal_names());
}

std::optional<double> log_ratio_of(const Figures& figures, const Figures& to, Goal goal) {
  const auto own = figure_of(figures, goal);
  const auto other = figure_of(to, goal);
  if (goal == Goal::kShared && own && other && figures.copies->seen != to.copies->seen) return std::nullopt;
  if (!own || !other || (goal == Goal::kIdle && figures.idle_measure != to.idle_measure)) return std::nullopt;
  return std::log(*own / *other);
}

std::optional<double> figure_of(const Figures& figures, Goal goal) {
  if (goal == Goal::kShared) {
    const bool known = figures.copies && figures.copies->copied_bytes;
    return known ? std::optional(std::max(static_cast<double>(*figures.copies->copied_bytes), 1.0)) : std::nullopt;
  }
  if (goal == Goal::kIdle) return figures.idle_bytes ? std::optional(std::max(*figures.idle_bytes, 1.0)) : std::nullopt;
  constexpr double Figures::*kFields[] = {&Figures::cpu_s, &Figures::wall_s, &Figures::faults, &Figures::peak_bytes};
  const bool time = goal == Goal::kCpu || goal == Goal::kWall;
  return std::max(figures.*kFields[static_cast<std::size_t>(goal)], time ? 1e-6 : 1.0);
}

}  // namespace zerotax::advise
