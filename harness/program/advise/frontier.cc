#include "advise/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "advise/estimates.h"
#include "base/statistics.h"

namespace zerotax::advise {
namespace {

/// Page faults steer the search if unchanged runs differ by at most this much (difference of logarithms).
constexpr double kRepeats = 0.02;
/// Relative gain of memory that counts, if it is also kNoticeable bytes.
constexpr double kMemoryBand = 0.10;
constexpr double kNoticeable = 1 << 20;

class Frontier {
 public:
  Frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes, const FrontierMethod& method,
           const RunOnce& run, const OnPart& on_part)
      : candidates_(candidates), axes_(axes), method_(method), run_(run), on_part_(on_part), random_(method.seed) {
    found_.search.standings.assign(candidates.size(), {});
    found_.goal = method.wanted.value_or(Goal::kCpu);
  }

  FrontierResult search() {
    found_.search.complete = start() && ends() && bisections() && parts_alone() && rounds();
    if (found_.members.empty()) choose_members();
    finish();
    return std::move(found_);
  }

 private:
  bool once(Phase phase, unsigned round, std::size_t candidate) {
    since_present_ = candidate == kPresent ? 0 : since_present_ + 1;
    return run_and_note(found_.search, phase, round, candidate, run_);
  }
  bool present(Phase phase = Phase::kScreen) { return once(phase, round_, kPresent); }

  /// Runs a candidate that has not run yet. Repeats the run if the steering metric is noisy.
  bool measure(std::size_t candidate) {
    if (found_.search.standings[candidate].state != Standing::State::kNotTried) return true;
    const unsigned times = found_.steer == Goal::kFaults ? 1 : 3;
    for (unsigned i = 0; i < times; ++i) {
      if (since_present_ >= kBetween && !present()) return false;
      if (!once(Phase::kScreen, round_, candidate)) return false;
      if (!worked(candidate)) break;
    }
    return true;
  }
  [[nodiscard]] bool worked(std::size_t candidate) const {
    return found_.search.standings[candidate].state == Standing::State::kOk;
  }

  /// Returns a candidate's metric as a multiple of the unchanged program's; nothing if there is no run with the metric.
  [[nodiscard]] std::optional<double> ratio(std::size_t candidate, Goal goal) const {
    if (candidate == kPresent) return 1;
    if (const Confirmation* pairs = pairs_of(candidate)) {
      const TimeVerdict& verdict = verdict_of(*pairs, goal);
      if (verdict.kind != TimeVerdict::Kind::kUnknown) return std::exp(verdict.log_ratio);
    }
    const auto ratios = ratios_to_neighbours(found_.search.runs, candidates_.size(), goal);
    if (!worked(candidate) || ratios[candidate].empty()) return std::nullopt;
    return std::exp(median(ratios[candidate]));
  }
  [[nodiscard]] double present_figure(Goal goal) const { return median_figure(found_.search.runs, kPresent, goal); }
  [[nodiscard]] const Confirmation* pairs_of(std::size_t candidate) const {
    for (const Confirmation& each : found_.search.confirmations) {
      if (each.candidate == candidate && !each.verdicts.empty()) return &each;
    }
    return nullptr;
  }

  bool start() {
    on_part_("the program as it is", 3);
    if (!present(Phase::kWarmUp) || !present() || !present()) return false;
    const bool repeats = noise_of_present(found_.search.runs, Goal::kFaults) <= kRepeats;
    found_.steer = repeats ? Goal::kFaults : Goal::kCpu;
    return true;
  }

  /// Tries the candidates without an axis, and both ends of each axis.
  bool ends() {
    ++round_;
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto has = [&](const Axis& axis) {
        return std::find(axis.candidates.begin(), axis.candidates.end(), i) != axis.candidates.end();
      };
      if (std::none_of(axes_.begin(), axes_.end(), has)) first.push_back(i);
    }
    for (const Axis& axis : axes_) {
      for (const std::size_t position : {std::size_t{0}, axis.candidates.size() - 1}) {
        if (axis.today != position) first.push_back(axis.candidates[position]);
      }
    }
    on_part_("the ends of each lever", first.size() * 4 / 3 + 1);
    for (const std::size_t candidate : first) {
      if (!measure(candidate)) return false;
    }
    return present();
  }

  /// Returns the gain of a position of an axis as a share of the unchanged cost; 0 for the unchanged value and for a
  /// value that does not work.
  [[nodiscard]] double gain(const Axis& axis, std::size_t position, Goal goal) const {
    if (axis.today == position) return 0;
    const auto found = ratio(axis.candidates[position], goal);
    return found ? 1 - *found : 0;
  }
  [[nodiscard]] bool is_gain(double gain, Goal goal) const {
    const double noise = 3 * noise_of_present(found_.search.runs, goal);
    if (!is_memory(goal)) return gain >= std::max(method_.band, noise);
    return gain >= std::max(kMemoryBand, noise) && gain * present_figure(goal) >= kNoticeable;
  }

  /// Finds the value nearest to the other end that keeps kKept of the gain of the better end.
  bool bisect(const Axis& axis, Goal goal) {
    const std::size_t last = axis.candidates.size() - 1;
    const std::size_t best = gain(axis, last, goal) >= gain(axis, 0, goal) ? last : 0;
    const double most = gain(axis, best, goal);
    if (!is_gain(most, goal)) return true;
    std::size_t keeps = best;
    std::size_t loses = axis.today.value_or(last - best);
    if (gain(axis, loses, goal) >= kKept * most) return true;
    while (std::max(keeps, loses) - std::min(keeps, loses) > 1) {
      const std::size_t middle = (keeps + loses) / 2;
      if (!measure(axis.candidates[middle])) return false;
      (gain(axis, middle, goal) >= kKept * most ? keeps : loses) = middle;
    }
    for (std::size_t position = best; position != keeps; best < keeps ? ++position : --position) {
      exceeding_.push_back(axis.candidates[position]);
    }
    found_.sufficient.push_back({static_cast<std::size_t>(&axis - axes_.data()), goal, axis.candidates[keeps]});
    return true;
  }

  bool bisections() {
    ++round_;
    std::size_t runs = 1;
    for (const Axis& axis : axes_) runs += static_cast<std::size_t>(std::log2(axis.candidates.size())) + 1;
    on_part_("smallest sufficient values", runs);
    for (const Axis& axis : axes_) {
      for (const Goal goal : {found_.steer, Goal::kIdle, Goal::kMemory}) {
        if (!bisect(axis, goal)) return false;
      }
    }
    return present();
  }

  /// Where a joint value of several levers is sufficient, tries each of the levers alone with this value.
  bool parts_alone() {
    std::vector<PartAlone> alone;
    for (const SufficientValue& each : found_.sufficient) {
      const Axis& axis = axes_[each.axis];
      const auto position = static_cast<std::size_t>(
          std::find(axis.candidates.begin(), axis.candidates.end(), each.candidate) - axis.candidates.begin());
      if (each.goal != found_.steer) continue;
      for (const std::size_t part : axis.parts) {
        alone.push_back({each.axis, each.candidate, axes_[part].candidates[position]});
      }
    }
    if (!alone.empty()) on_part_("one lever alone", alone.size() + 1);
    for (const PartAlone& each : alone) {
      if (!measure(each.candidate)) return false;
      if (worked(each.candidate)) found_.alone.push_back(each);
    }
    if (!alone.empty() && !present()) return false;
    choose_members();
    return true;
  }

  /// Preference among candidates that are equally good: no other allocator, few settings, and a sufficient value.
  [[nodiscard]] auto complexity(std::size_t candidate) const {
    return std::tuple(candidates_[candidate].preload, candidates_[candidate].settings, !is_sufficient(candidate),
                      candidate);
  }
  [[nodiscard]] bool is_sufficient(std::size_t candidate) const {
    return std::any_of(found_.sufficient.begin(), found_.sufficient.end(),
                       [&](const SufficientValue& each) { return each.candidate == candidate; });
  }
  /// Whether a value exceeds a sufficient value of its axis. Such a value is no member, because it gains hardly more.
  [[nodiscard]] bool exceeds(std::size_t candidate) const {
    return !is_sufficient(candidate) && std::find(exceeding_.begin(), exceeding_.end(), candidate) != exceeding_.end();
  }

  /// Returns the differences that do not count: a share of the unchanged cost, or bytes.
  [[nodiscard]] double tolerance(Goal goal) const {
    if (!is_memory(goal)) return std::max(method_.near, 2 * noise_of_present(found_.search.runs, goal));
    // A mean depends on the times of the samples.
    const bool is_mean =
        goal == Goal::kIdle && found_.search.runs.front().trial.figures.idle_measure == IdleMeasure::kMean;
    const double bytes = std::max((is_mean ? 0.1 : 0.02) * present_figure(Goal::kMemory), 0.5 * kNoticeable);
    return std::max(bytes / std::max(1.0, present_figure(goal)), 3 * noise_of_present(found_.search.runs, goal));
  }

  /// Whether `one` is nowhere worse than `other`, and better or simpler.
  [[nodiscard]] bool beats(std::size_t one, std::size_t other) const {
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

  /// Whether a candidate takes no more memory than --max-memory permits.
  [[nodiscard]] bool keeps_limit(std::size_t candidate) const {
    return !method_.most_extra_bytes || is_within(found_.search, method_, candidate);
  }

  void choose_members() {
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
      return [this, goal](std::size_t a, std::size_t b) {
        return ratio(a, goal).value_or(1) < ratio(b, goal).value_or(1);
      };
    };
    std::stable_sort(members.begin(), members.end(), by(found_.steer));
    // The cheapest member of each metric stays. Of the others, the member nearest in cost to its neighbors goes first.
    while (members.size() > kMostMembers) {
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

  /// Returns the number of rounds that prove the smallest gain of CPU time among the members.
  [[nodiscard]] unsigned rounds_needed() const {
    double gain = -1;
    for (const std::size_t member : found_.members) {
      const double log_ratio = std::log(ratio(member, Goal::kCpu).value_or(1));
      if (log_ratio < -std::log1p(method_.band)) gain = std::max(gain, log_ratio);
    }
    return pairs_needed(gain, noise_of_present(found_.search.runs, Goal::kCpu), alpha(), method_.most_pairs);
  }
  [[nodiscard]] double alpha() const {
    return method_.alpha / static_cast<double>(std::max<std::size_t>(1, found_.members.size()));
  }

  bool rounds() {
    if (found_.members.empty()) return true;
    const unsigned planned = rounds_needed();
    for (const std::size_t member : found_.members) {
      found_.search.confirmations.push_back({member, planned, {}, {}, alpha(), {}, false, ""});
    }
    std::vector<std::size_t> order = found_.members;
    order.push_back(kPresent);
    on_part_(fmt::format("{} rounds of {} settings", planned, order.size()), planned * order.size());
    for (unsigned round = 1; round <= planned; ++round) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
      const std::size_t begin = found_.search.runs.size();
      for (const std::size_t each : order) {
        if ((each == kPresent || worked(each)) && !once(Phase::kConfirm, round, each)) return false;
      }
      add_pairs(begin);
    }
    for (Confirmation& each : found_.search.confirmations) {
      if (worked(each.candidate)) each.verdicts = judge_pairs(each, method_.band);
    }
    // With the runs of the rounds, a member may turn out to take more memory than one run showed.
    std::erase_if(found_.members, [&](std::size_t member) { return !is_proven_less(member) || !keeps_limit(member); });
    return true;
  }

  /// Pairs each member's run of a round with the unchanged run of the same round.
  void add_pairs(std::size_t begin) {
    const std::vector<SearchRun>& runs = found_.search.runs;
    const auto unchanged = std::find_if(runs.begin() + static_cast<std::ptrdiff_t>(begin), runs.end(),
                                        [](const SearchRun& run) { return run.candidate == kPresent; });
    for (std::size_t i = begin; i < runs.size(); ++i) {
      for (Confirmation& each : found_.search.confirmations) {
        if (each.candidate != runs[i].candidate || runs[i].trial.end != Trial::End::kOk) continue;
        each.present.push_back(unchanged->trial.figures);
        each.remedy.push_back(runs[i].trial.figures);
      }
    }
  }

  /// Whether a member is proven to take less of a metric than the unchanged program.
  [[nodiscard]] bool is_proven_less(std::size_t member) const {
    return is_less(member, Goal::kCpu) || is_less(member, found_.steer) || is_less(member, Goal::kIdle) ||
           is_less(member, Goal::kMemory);
  }
  [[nodiscard]] bool is_less(std::size_t member, Goal goal) const {
    const Confirmation* pairs = pairs_of(member);
    return pairs != nullptr && verdict_of(*pairs, goal).kind == TimeVerdict::Kind::kFaster;
  }

  /// Returns the knee for a goal: of the members that keep kKept of the best gain, the member that takes least memory
  /// (for a goal of memory: least CPU time). A goal of memory may multiply the CPU time by other_ratio, or by any
  /// ratio.
  [[nodiscard]] std::optional<std::size_t> knee(Goal goal, bool at_any_price) const {
    std::vector<std::size_t> able;
    double best = 1;
    for (const std::size_t member : found_.members) {
      if (!is_less(member, goal) || !is_within(found_.search, method_, member)) continue;
      if (!at_any_price && is_memory(goal) && ratio(member, Goal::kCpu).value_or(1) > method_.other_ratio) continue;
      able.push_back(member);
      best = std::min(best, ratio(member, goal).value_or(1));
    }
    std::erase_if(able, [&](std::size_t member) {
      const Interval& interval = verdict_of(*pairs_of(member), goal).interval95;
      const double half = (std::exp(interval.high) - std::exp(interval.low)) / 2;
      return 1 - ratio(member, goal).value_or(1) < kKept * (1 - best) - half;
    });
    const Goal price = is_memory(goal) ? Goal::kCpu : present_figure(Goal::kIdle) != 0 ? Goal::kIdle : Goal::kMemory;
    const auto costs = [&](std::size_t member) { return ratio(member, price).value_or(1); };
    std::optional<std::size_t> chosen;
    for (const std::size_t member : able) {
      const bool equal = chosen && std::abs(costs(member) - costs(*chosen)) <= tolerance(price);
      if (!chosen || (equal ? complexity(member) < complexity(*chosen) : costs(member) < costs(*chosen)))
        chosen = member;
    }
    return chosen;
  }

  void finish() {
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
    const auto ratios = ratios_to_neighbours(result.runs, candidates_.size(), found_.goal);
    result.noise = noise_of_present(result.runs, found_.goal);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Standing& standing = result.standings[i];
      standing.log_ratios = ratios[i];
      if (ratios[i].empty()) continue;
      standing.score = median(ratios[i]);
      standing.heavy = !is_within(result, method_, i);
      standing.kind = kind_of_score(standing.score, noise_of_score(result.noise, ratios[i].size()), method_.band);
    }
  }

  const std::vector<Candidate>& candidates_;
  const std::vector<Axis>& axes_;
  const FrontierMethod& method_;
  const RunOnce& run_;
  const OnPart& on_part_;
  Random random_;
  FrontierResult found_;
  std::vector<std::size_t> exceeding_;  ///< values between a better end and its sufficient value, including the end
  std::size_t since_present_ = 0;
  unsigned round_ = 0;
};

}  // namespace

std::size_t most_frontier_runs(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes,
                               const FrontierMethod& method) {
  std::size_t values = 0;
  std::size_t steps = 0;
  for (const Axis& axis : axes) {
    values += axis.candidates.size();
    // At most two metrics of an axis usually gain.
    steps += 2 + 2 * static_cast<std::size_t>(std::log2(axis.candidates.size()));
  }
  const std::size_t screened = candidates.size() - values + steps + kMostMembers;
  return 3 + screened * 4 / 3 + (kMostMembers + 1) * method.most_pairs;
}

bool is_within(const SearchResult& result, const FrontierMethod& method, std::size_t candidate) {
  for (const Goal goal : {Goal::kMemory, Goal::kIdle}) {
    const double own = median_figure(result.runs, candidate, goal);
    const double present = median_figure(result.runs, kPresent, goal);
    if (method.most_extra_bytes && own > present + *method.most_extra_bytes) return false;
    const bool heavy = own > present * method.memory_ratio && own > present + method.memory_slack;
    if (!method.most_extra_bytes && goal == Goal::kMemory && heavy) return false;
  }
  return true;
}

FrontierResult search_frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes,
                               const FrontierMethod& method, const RunOnce& run, const OnPart& on_part) {
  return Frontier(candidates, axes, method, run, on_part).search();
}

}  // namespace zerotax::advise
