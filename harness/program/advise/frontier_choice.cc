#include "advise/frontier_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "advise/estimates.h"
#include "base/statistics.h"

namespace zerotax::advise {
namespace {

/// Relative gain of memory that counts, if it is also kNoticeable bytes.
constexpr double kMemoryBand = 0.10;
constexpr double kNoticeable = 1 << 20;
/// Difference in cost that a single run under a setting may have by chance, although unchanged runs differ less.
constexpr double kSlack = 0.02;

}  // namespace

bool is_within(const SearchResult& result, const FrontierMethod& method, std::size_t candidate) {
  if (!method.most_extra_bytes) return !is_peak_heavy(result.runs, candidate, method);
  const auto takes = [&](std::size_t of, Goal goal) { return median_figure(result.runs, of, goal); };
  const auto keeps = [&](Goal goal) {
    return takes(candidate, goal) <= takes(kPresent, goal) + *method.most_extra_bytes;
  };
  return keeps(Goal::kMemory) && keeps(Goal::kIdle);
}

bool FrontierChoice::worked(std::size_t candidate) const {
  return found_.search.standings[candidate].state == Standing::State::kOk;
}

std::optional<double> FrontierChoice::ratio(std::size_t candidate, Goal goal) const {
  if (candidate == kPresent) return 1;
  if (const Confirmation* pairs = pairs_of(candidate)) {
    const TimeVerdict& verdict = verdict_of(*pairs, goal);
    if (verdict.kind != TimeVerdict::Kind::kUnknown) return std::exp(verdict.log_ratio);
  }
  const auto ratios = ratios_to_neighbours(found_.search.runs, candidates_.size(), goal);
  if (!worked(candidate) || ratios[candidate].empty()) return std::nullopt;
  // Unlike times, faults and memory do not drift with the machine, and single runs may be unusual.
  if (goal == Goal::kFaults || is_memory(goal)) {
    return median_figure(found_.search.runs, candidate, goal) / present_figure(goal);
  }
  return std::exp(median(ratios[candidate]));
}

double FrontierChoice::present_figure(Goal goal) const { return median_figure(found_.search.runs, kPresent, goal); }

const Confirmation* FrontierChoice::pairs_of(std::size_t candidate) const {
  for (const Confirmation& each : found_.search.confirmations) {
    if (each.candidate == candidate && !each.verdicts.empty()) return &each;
  }
  return nullptr;
}

bool FrontierChoice::is_gain(double gain, Goal goal) const {
  const double noise = 3 * noise_of_present(found_.search.runs, goal);
  if (!is_memory(goal)) return gain >= std::max(method_.band, noise);
  return gain >= std::max(kMemoryBand, noise) && gain * present_figure(goal) >= kNoticeable;
}

std::tuple<bool, std::size_t, bool, std::size_t> FrontierChoice::complexity(std::size_t candidate) const {
  return {candidates_[candidate].preload, candidates_[candidate].settings, !is_sufficient(candidate), candidate};
}

bool FrontierChoice::is_sufficient(std::size_t candidate) const {
  return std::any_of(found_.sufficient.begin(), found_.sufficient.end(),
                     [&](const SufficientValue& each) { return each.candidate == candidate; });
}

bool FrontierChoice::exceeds(std::size_t candidate) const {
  return !is_sufficient(candidate) && std::find(exceeding_.begin(), exceeding_.end(), candidate) != exceeding_.end();
}

double FrontierChoice::slack(Goal goal) const {
  return is_memory(goal) ? tolerance(goal) : std::max(kSlack, 2 * noise_of_present(found_.search.runs, goal));
}

double FrontierChoice::tolerance(Goal goal) const {
  if (!is_memory(goal)) return std::max(method_.near, slack(goal));
  // A mean depends on the times of the samples.
  const bool is_mean =
      goal == Goal::kIdle && found_.search.runs.front().trial.figures.idle_measure == IdleMeasure::kMean;
  const double bytes = std::max((is_mean ? 0.1 : 0.02) * present_figure(Goal::kMemory), 0.5 * kNoticeable);
  return std::max(bytes / std::max(1.0, present_figure(goal)), 3 * noise_of_present(found_.search.runs, goal));
}

bool FrontierChoice::beats(std::size_t one, std::size_t other) const {
  bool better = other != kPresent && (one == kPresent || complexity(one) < complexity(other));
  for (const Goal goal : {found_.steer, Goal::kIdle, Goal::kMemory}) {
    const auto own = ratio(one, goal);
    const auto others = ratio(other, goal);
    if (!own || !others) continue;
    if (*own > *others + tolerance(goal)) return false;
    better = better || *own < *others - tolerance(goal);
  }
  return better;
}

bool FrontierChoice::keeps_limit(std::size_t candidate) const {
  return !method_.most_extra_bytes || is_within(found_.search, method_, candidate);
}

void FrontierChoice::choose_members(std::size_t most) {
  std::vector<std::size_t> tried;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (worked(i) && !exceeds(i) && keeps_limit(i)) tried.push_back(i);
  }
  std::vector<std::size_t>& members = found_.members;
  members.clear();
  std::stable_sort(tried.begin(), tried.end(),
                   [&](std::size_t a, std::size_t b) { return complexity(a) < complexity(b); });
  for (const std::size_t each : tried) {
    const auto beats_it = [&](std::size_t other) { return beats(other, each); };
    if (beats_it(kPresent) || std::any_of(members.begin(), members.end(), beats_it)) continue;
    // Because differences within the tolerance do not count, three candidates may beat each other in a circle.
    std::erase_if(members, [&](std::size_t member) { return beats(each, member); });
    members.push_back(each);
  }
  const auto by = [&](Goal goal) {
    return
        [this, goal](std::size_t a, std::size_t b) { return ratio(a, goal).value_or(1) < ratio(b, goal).value_or(1); };
  };
  std::stable_sort(members.begin(), members.end(), by(found_.steer));
  // The cheapest member of each metric stays. Of the others, the member nearest in cost to its neighbors goes first.
  while (members.size() > most) {
    std::size_t least = 0;
    double smallest = 1e9;
    for (std::size_t i = 1; i + 1 < members.size(); ++i) {
      if (members[i] == *std::min_element(members.begin(), members.end(), by(Goal::kIdle)) ||
          members[i] == *std::min_element(members.begin(), members.end(), by(Goal::kMemory))) {
        continue;
      }
      const double gap =
          ratio(members[i + 1], found_.steer).value_or(1) - ratio(members[i - 1], found_.steer).value_or(1);
      if (gap < smallest) std::tie(smallest, least) = std::pair(gap, i);
    }
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

bool FrontierChoice::is_proven_less(std::size_t member) const {
  return is_less(member, Goal::kCpu) || is_less(member, found_.steer) || is_less(member, Goal::kIdle) ||
         is_less(member, Goal::kMemory);
}

bool FrontierChoice::is_less(std::size_t member, Goal goal) const {
  const Confirmation* pairs = pairs_of(member);
  return pairs != nullptr && verdict_of(*pairs, goal).kind == TimeVerdict::Kind::kFaster;
}

std::optional<std::size_t> FrontierChoice::knee(Goal goal, bool at_any_price) const {
  std::vector<std::size_t> able;
  const auto gain = [&](std::size_t member) { return 1 - ratio(member, goal).value_or(1); };
  for (const std::size_t member : found_.members) {
    if (!is_less(member, goal) || !is_within(found_.search, method_, member)) continue;
    if (!at_any_price && is_memory(goal) && ratio(member, Goal::kCpu).value_or(1) > method_.other_ratio) continue;
    able.push_back(member);
  }
  if (able.empty()) return std::nullopt;
  const auto half_interval = [&](std::size_t member) {
    const Interval& interval = verdict_of(*pairs_of(member), goal).interval95;
    return (std::exp(interval.high) - std::exp(interval.low)) / 2;
  };
  const std::size_t best =
      *std::max_element(able.begin(), able.end(), [&](std::size_t a, std::size_t b) { return gain(a) < gain(b); });
  const double needed = kKept * gain(best) - half_interval(best);
  std::erase_if(able, [&](std::size_t member) { return gain(member) + half_interval(member) < needed; });
  const Goal price = is_memory(goal) ? Goal::kCpu : present_figure(Goal::kIdle) != 0 ? Goal::kIdle : Goal::kMemory;
  const auto costs = [&](std::size_t member) { return ratio(member, price).value_or(1); };
  const double least = costs(
      *std::min_element(able.begin(), able.end(), [&](std::size_t a, std::size_t b) { return costs(a) < costs(b); }));
  std::erase_if(able, [&](std::size_t member) { return costs(member) > least + tolerance(price); });
  return *std::min_element(able.begin(), able.end(),
                           [&](std::size_t a, std::size_t b) { return complexity(a) < complexity(b); });
}

void FrontierChoice::finish() {
  SearchResult& result = found_.search;
  for (const Goal goal : {Goal::kCpu, Goal::kIdle, Goal::kMemory}) {
    if (method_.wanted || !result.complete) break;
    found_.goal = goal;
    if (knee(goal, false)) break;
    found_.goal = Goal::kCpu;
  }
  if (result.complete) result.winner = knee(found_.goal, method_.wanted.has_value());
  for (const Goal goal : {Goal::kCpu, Goal::kIdle, Goal::kMemory}) {
    const auto best = result.complete ? knee(goal, true) : std::nullopt;
    if (best && best != result.winner) found_.knees.emplace_back(goal, *best);
  }
  for (Confirmation& each : result.confirmations) {
    each.confirmed = is_less(each.candidate, found_.goal);
    each.why_not = each.confirmed            ? ""
                   : !worked(each.candidate) ? "a run with the remedy failed"
                                             : "no gain was confirmed";
  }
  rate_standings(result, found_.goal, method_.band,
                 [&](std::size_t candidate) { return !is_within(result, method_, candidate); });
}

}  // namespace zerotax::advise
