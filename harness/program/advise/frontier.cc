#include "advise/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "advise/estimates.h"
#include "advise/frontier_choice.h"
#include "base/statistics.h"

namespace zerotax::advise {
namespace {

/// Page faults steer the search if unchanged runs differ by at most this much (difference of logarithms).
constexpr double kRepeats = 0.02;
class Frontier {
 public:
  Frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes, const FrontierMethod& method,
           const RunOnce& run, const OnPart& on_part)
      : candidates_(candidates),
        axes_(axes),
        method_(method),
        run_(run),
        on_part_(on_part),
        random_(method.seed),
        choice_(candidates, method, found_) {
    found_.search.standings.assign(candidates.size(), {});
    found_.goal = method.wanted.value_or(Goal::kCpu);
  }

  FrontierResult search() {
    found_.search.complete = start() && ends() && bisections() && parts_alone() && rounds();
    if (found_.members.empty()) choice_.choose_members();
    choice_.finish();
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
      if (!choice_.worked(candidate)) break;
    }
    return true;
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
    const auto found = choice_.ratio(axis.candidates[position], goal);
    return found ? 1 - *found : 0;
  }
  /// Finds the value nearest to the other end that keeps kKept of the gain of the better end.
  bool bisect(const Axis& axis, Goal goal) {
    const std::size_t last = axis.candidates.size() - 1;
    const std::size_t best = gain(axis, last, goal) >= gain(axis, 0, goal) ? last : 0;
    const double most = gain(axis, best, goal);
    if (!choice_.is_gain(most, goal)) return true;
    std::size_t keeps = best;
    std::size_t loses = axis.today.value_or(last - best);
    if (gain(axis, loses, goal) >= kKept * most) return true;
    while (std::max(keeps, loses) - std::min(keeps, loses) > 1) {
      const std::size_t middle = (keeps + loses) / 2;
      if (!measure(axis.candidates[middle])) return false;
      (gain(axis, middle, goal) >= kKept * most ? keeps : loses) = middle;
    }
    for (std::size_t position = best; position != keeps; best < keeps ? ++position : --position) {
      choice_.leave_out(axis.candidates[position]);
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
      if (choice_.worked(each.candidate)) found_.alone.push_back(each);
    }
    if (!alone.empty() && !present()) return false;
    choice_.choose_members();
    return true;
  }

  /// Returns the number of rounds that prove the smallest gain of CPU time among the members.
  [[nodiscard]] unsigned rounds_needed() const {
    double gain = -1;
    for (const std::size_t member : found_.members) {
      const double log_ratio = std::log(choice_.ratio(member, Goal::kCpu).value_or(1));
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
        if ((each == kPresent || choice_.worked(each)) && !once(Phase::kConfirm, round, each)) return false;
      }
      add_pairs(begin);
    }
    for (Confirmation& each : found_.search.confirmations) {
      if (choice_.worked(each.candidate)) each.verdicts = judge_pairs(each, method_.band);
    }
    // With the runs of the rounds, a member may turn out to take more memory than one run showed.
    std::erase_if(found_.members,
                  [&](std::size_t member) { return !choice_.is_proven_less(member) || !choice_.keeps_limit(member); });
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

  const std::vector<Candidate>& candidates_;
  const std::vector<Axis>& axes_;
  const FrontierMethod& method_;
  const RunOnce& run_;
  const OnPart& on_part_;
  Random random_;
  FrontierResult found_;
  FrontierChoice choice_;
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

FrontierResult search_frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes,
                               const FrontierMethod& method, const RunOnce& run, const OnPart& on_part) {
  return Frontier(candidates, axes, method, run, on_part).search();
}

}  // namespace zerotax::advise
