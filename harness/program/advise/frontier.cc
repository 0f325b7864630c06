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

/// Page faults steer the search if unchanged runs typically differ by at most this much from their median.
constexpr double kRepeats = 0.02;
/// Number of runs of each value if page faults do not repeat, and of each contender.
constexpr unsigned kMostTimes = 3;
/// Maximum number of contenders: the values that may become members.
constexpr std::size_t kMostContenders = 12;
/// Maximum number of unchanged runs before the values, and after the parts of the search.
constexpr std::size_t kUnchangedRuns = 9;
/// Share of the limit of time after which no further values are tried. The rounds take the rest.
constexpr double kForValues = 0.6;
/// Number of members that remain if the rounds of all members would take too long.
constexpr std::size_t kFewestMembers = 3;

/// Returns the maximum number of candidates that run before the rounds.
std::size_t most_screened(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes) {
  std::size_t values = 0;
  std::size_t steps = 0;
  for (const Axis& axis : axes) {
    values += axis.candidates.size();
    // At most two metrics of an axis usually gain.
    steps += 2 + 2 * static_cast<std::size_t>(std::log2(axis.candidates.size()));
  }
  return candidates.size() - values + steps + kMostMembers;
}

class Frontier {
 public:
  Frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes, const FrontierMethod& method,
           const RunOnce& run, const OnPart& on_part, const OnEstimate& on_estimate)
      : candidates_(candidates),
        axes_(axes),
        method_(method),
        run_(run),
        on_part_(on_part),
        on_estimate_(on_estimate),
        random_(method.seed),
        choice_(candidates, method, found_) {
    found_.search.standings.assign(candidates.size(), {});
    found_.goal = method.wanted.value_or(Goal::kCpu);
  }

  FrontierResult search() {
    found_.search.complete = start() && ends() && bisections() && parts_alone() && again() && rounds();
    if (found_.members.empty()) choice_.choose_members(kMostMembers);
    choice_.finish();
    return std::move(found_);
  }

 private:
  bool once(Phase phase, unsigned round, std::size_t candidate) {
    since_present_ = candidate == kPresent ? 0 : since_present_ + 1;
    if (!run_and_note(found_.search, phase, round, candidate, run_)) return false;
    spent_s_ += found_.search.runs.back().trial.took_s;
    return true;
  }
  bool present(Phase phase = Phase::kScreen) { return once(phase, round_, kPresent); }
  /// Runs a candidate, after an unchanged run if that is due.
  bool screen(std::size_t candidate) {
    return (since_present_ < kBetween || present()) && once(Phase::kScreen, round_, candidate);
  }

  [[nodiscard]] bool is_time_over() const { return spent_s_ >= kForValues * method_.most_s; }

  /// Runs a candidate that has not run yet. Repeats the run if the steering metric is noisy. Leaves the candidate out
  /// if the time for values is over.
  bool measure(std::size_t candidate) {
    if (found_.search.standings[candidate].state != Standing::State::kNotTried) return true;
    if (is_time_over()) {
      std::vector<std::size_t>& left_out = found_.left_out;
      if (std::find(left_out.begin(), left_out.end(), candidate) == left_out.end()) left_out.push_back(candidate);
      return true;
    }
    for (unsigned i = 0; i < times_; ++i) {
      if (!screen(candidate)) return false;
      if (!choice_.worked(candidate)) break;
    }
    return true;
  }

  /// Whether page faults of unchanged runs repeat. Half of the runs may be unusual.
  [[nodiscard]] bool faults_repeat() const {
    const double usual = median_figure(found_.search.runs, kPresent, Goal::kFaults);
    std::vector<double> differences;
    for (const SearchRun& run : found_.search.runs) {
      if (run.phase != Phase::kWarmUp) differences.push_back(std::abs(run.trial.figures.faults / usual - 1));
    }
    return median(differences) <= kRepeats;
  }

  bool start() {
    on_part_("the program as it is", 3);
    if (!present(Phase::kWarmUp) || !present() || !present()) return false;
    // With two more runs, a single unusual run does not decide.
    if (!faults_repeat() && (!present() || !present())) return false;
    const bool repeats = faults_repeat();
    found_.steer = repeats ? Goal::kFaults : Goal::kCpu;
    const auto screened = static_cast<double>(most_screened(candidates_, axes_));
    const double affordable = kForValues * method_.most_s / (run_s(kPresent) * screened * 4 / 3);
    if (!repeats) times_ = static_cast<unsigned>(std::clamp<double>(affordable, 1, kMostTimes));
    const std::size_t before_rounds =
        (most_screened(candidates_, axes_) * times_ + kMostContenders * (kMostTimes - times_)) * 4 / 3 + kUnchangedRuns;
    on_estimate_(before_rounds + (kMostMembers + 1) * method_.most_pairs, run_s(kPresent));
    return true;
  }

  /// Tries both ends of each axis, and the candidates without an axis.
  bool ends() {
    ++round_;
    std::vector<std::size_t> first;
    for (const Axis& axis : axes_) {
      for (const std::size_t position : {std::size_t{0}, axis.candidates.size() - 1}) {
        if (axis.today != position) first.push_back(axis.candidates[position]);
      }
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto has = [&](const Axis& axis) {
        return std::find(axis.candidates.begin(), axis.candidates.end(), i) != axis.candidates.end();
      };
      if (std::none_of(axes_.begin(), axes_.end(), has)) first.push_back(i);
    }
    on_part_("the ends of each lever", first.size() * times_ * 4 / 3 + 1);
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
    const double needed = kKept * most - choice_.slack(goal);
    std::size_t keeps = best;
    std::size_t loses = axis.today.value_or(last - best);
    if (gain(axis, loses, goal) >= needed) return true;
    while (std::max(keeps, loses) - std::min(keeps, loses) > 1) {
      const std::size_t middle = (keeps + loses) / 2;
      if (!measure(axis.candidates[middle])) return false;
      (gain(axis, middle, goal) >= needed ? keeps : loses) = middle;
    }
    for (std::size_t position = best; position != keeps; best < keeps ? ++position : --position) {
      choice_.leave_out(axis.candidates[position]);
    }
    found_.sufficient.push_back({static_cast<std::size_t>(&axis - axes_.data()), goal, axis.candidates[keeps]});
    return true;
  }

  bool bisections() {
    ++round_;
    std::size_t runs = 0;
    // The levers with the largest gains come first, because the time may end before the search does.
    std::vector<std::pair<double, const Axis*>> order;
    for (const Axis& axis : axes_) {
      runs += static_cast<std::size_t>(std::log2(axis.candidates.size())) + 1;
      const double gains[] = {gain(axis, 0, found_.steer), gain(axis, axis.candidates.size() - 1, found_.steer)};
      order.emplace_back(std::max(gains[0], gains[1]), &axis);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    on_part_("smallest sufficient values", runs * times_ + 1);
    for (const auto& [_, axis] : order) {
      for (const Goal goal : {found_.steer, Goal::kIdle, Goal::kMemory}) {
        if (!bisect(*axis, goal)) return false;
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
    if (!alone.empty()) on_part_("one lever alone", alone.size() * times_ + 1);
    for (const PartAlone& each : alone) {
      if (!measure(each.candidate)) return false;
      if (choice_.worked(each.candidate)) found_.alone.push_back(each);
    }
    return alone.empty() || present();
  }

  /// Repeats the runs of the contenders, so that a single unusual run does not decide which of them are members.
  bool again() {
    choice_.choose_members(kMostMembers);
    std::vector<std::size_t> contenders = found_.members;
    for (const SufficientValue& each : found_.sufficient) {
      const bool is_new = std::find(contenders.begin(), contenders.end(), each.candidate) == contenders.end();
      if (is_new && contenders.size() < kMostContenders) contenders.push_back(each.candidate);
    }
    if (contenders.empty() || times_ == kMostTimes) return true;
    on_part_("the best values again", contenders.size() * (kMostTimes - times_) * 4 / 3 + 1);
    for (unsigned time = times_; time < kMostTimes; ++time) {
      for (const std::size_t each : contenders) {
        if (is_time_over() || !choice_.worked(each)) continue;
        if (!screen(each)) return false;
      }
    }
    if (!present()) return false;
    choice_.choose_members(kMostMembers);
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

  /// Returns the elapsed time of a run of a candidate, in seconds.
  [[nodiscard]] double run_s(std::size_t candidate) const {
    std::vector<double> all;
    for (const SearchRun& run : found_.search.runs) {
      if (run.candidate == candidate) all.push_back(run.trial.took_s);
    }
    return median(all);
  }
  /// Returns the number of rounds of all members for which there is time.
  [[nodiscard]] double rounds_left() const {
    double round_s = run_s(kPresent);
    for (const std::size_t member : found_.members) round_s += run_s(member);
    return (method_.most_s - spent_s_) / round_s;
  }

  bool rounds() {
    // Fewer rounds than this number prove nothing.
    const auto least = [this] { return pairs_needed(1e6, 0, alpha(), method_.most_pairs); };
    while (found_.members.size() > kFewestMembers && rounds_left() < least()) {
      choice_.choose_members(found_.members.size() - 1);
    }
    if (found_.members.empty()) return true;
    const unsigned needed = rounds_needed();
    const auto planned = static_cast<unsigned>(std::clamp<double>(rounds_left(), 1, needed));
    for (const std::size_t member : found_.members) {
      found_.search.confirmations.push_back({member, needed, {}, {}, alpha(), {}, false, ""});
    }
    std::vector<std::size_t> order = found_.members;
    order.push_back(kPresent);
    on_part_(fmt::format("{} rounds of {} settings", planned, order.size()), planned * order.size());
    for (unsigned round = 1; round <= planned && (round == 1 || rounds_left() >= 1); ++round) {
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
  const OnEstimate& on_estimate_;
  Random random_;
  FrontierResult found_;
  FrontierChoice choice_;
  std::size_t since_present_ = 0;
  unsigned times_ = 1;  ///< number of runs of each value
  double spent_s_ = 0;
  unsigned round_ = 0;
};

}  // namespace

FrontierResult search_frontier(const std::vector<Candidate>& candidates, const std::vector<Axis>& axes,
                               const FrontierMethod& method, const RunOnce& run, const OnPart& on_part,
                               const OnEstimate& on_estimate) {
  return Frontier(candidates, axes, method, run, on_part, on_estimate).search();
}

}  // namespace zerotax::advise
