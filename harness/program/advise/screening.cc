#include "advise/screening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "advise/estimates.h"

namespace zerotax::advise {
namespace {

constexpr std::size_t kFinalists = 3;
/// Minimum number of candidates that halving keeps. Single runs cannot decide among so few.
constexpr std::size_t kFewest = 4;
constexpr std::size_t kFastest = 2;
/// A candidate this far behind the best (difference of logarithms) drops out before halving, unless the distance is
/// within three times the noise.
constexpr double kFarBehind = 0.10;

/// Whether the logarithm `own` is clearly larger than `least`. `noise` is the standard deviation of either logarithm.
bool is_clearly_more(double own, double least, double noise) {
  return own - least > std::max(kFarBehind, 3 * std::sqrt(2.0) * noise);
}

std::size_t references_for(const std::vector<std::size_t>& contestants) {
  return (contestants.size() + kBetween - 1) / kBetween;
}

}  // namespace

Screening::Screening(const std::vector<Candidate>& candidates, const SearchMethod& method, const RunOnce& run,
                     const OnPart& on_part, SearchResult& result)
    : candidates_(candidates), method_(method), run_(run), on_part_(on_part), result_(result), random_(method.seed) {
  result_.standings.assign(candidates.size(), {});
}

bool Screening::once(Phase phase, unsigned round, std::size_t candidate) {
  return run_and_note(result_, phase, round, candidate, run_);
}

/// Runs each contestant once, in random order. Skips contestants with a failed run, because they would fail again.
bool Screening::cycle(std::vector<std::size_t>& contestants, bool starts_with_present) {
  for (std::size_t i = contestants.size(); i > 1; --i) std::swap(contestants[i - 1], contestants[random_.below(i)]);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    const bool is_reference_due = i % kBetween == 0 && (i > 0 || starts_with_present);
    if (is_reference_due && !once(Phase::kScreen, round_, kPresent)) return false;
    const Standing::State state = result_.standings[contestants[i]].state;
    if (state != Standing::State::kOk && state != Standing::State::kNotTried) continue;
    if (!once(Phase::kScreen, round_, contestants[i])) return false;
  }
  return true;
}

bool Screening::round(std::vector<std::size_t> contestants, unsigned cycles) {
  ++round_;
  on_part_(fmt::format("round {}", round_), cycles * (contestants.size() + references_for(contestants)) + 1);
  for (unsigned i = 0; i < cycles; ++i) {
    if (!cycle(contestants, true)) return false;
  }
  return once(Phase::kScreen, round_, kPresent);
}

/// Runs each candidate once. Repeats the candidates that would drop out (with `brief`, all candidates), because the
/// first run may pay for memory that later runs find in place. For example, one run with huge pages was 3.4 times
/// slower because the host first had to back the memory.
bool Screening::first_round(const std::vector<std::size_t>& contestants) {
  const bool going = round(contestants, 1);
  rate();
  if (!going) return false;
  std::vector<std::size_t> again = method_.brief ? contestants : dropping_out();
  if (again.empty()) return true;
  on_part_(fmt::format("round {}, second runs", round_), again.size() + references_for(again));
  const bool ended = cycle(again, false) && once(Phase::kScreen, round_, kPresent);
  rate();
  for (const std::size_t candidate : again) leave_out_cold_run(candidate);
  rate();
  return ended;
}

/// Makes the first of two runs a warm-up if it was slower than the second by more than chance explains, because the
/// median of both would include half of the extra time. Otherwise both runs count. The better of two runs is never
/// chosen, because chance alone would make repeated candidates look faster than candidates with one run.
void Screening::leave_out_cold_run(std::size_t candidate) {
  const std::vector<double>& ratios = result_.standings[candidate].log_ratios;
  if (ratios.size() < 2 || !is_clearly_more(ratios[0], ratios[1], noise_of_score(result_.noise, 1))) return;
  const auto first = std::find_if(result_.runs.begin(), result_.runs.end(),
                                  [&](const SearchRun& run) { return run.candidate == candidate; });
  first->phase = Phase::kWarmUp;
}

bool Screening::is_heavy(std::size_t candidate) const {
  if (!is_memory(method_.goal)) return is_peak_heavy(result_.runs, candidate, method_);
  return median_figure(result_.runs, candidate, Goal::kCpu) >
         median_figure(result_.runs, kPresent, Goal::kCpu) * method_.other_ratio;
}

void Screening::rate() {
  rate_standings(result_, method_.goal, method_.band, [this](std::size_t candidate) { return is_heavy(candidate); });
}

double Screening::tolerance(std::size_t candidate) const {
  return noise_of_score(result_.noise, result_.standings[candidate].log_ratios.size());
}

/// Returns the candidates that may still be recommended, the best score first. Leaves out candidates that are slower
/// than the unchanged program.
std::vector<std::size_t> Screening::standing() const {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Standing& standing = result_.standings[i];
    if (standing.state != Standing::State::kOk || standing.heavy || standing.log_ratios.empty()) continue;
    if (standing.score <= std::log1p(method_.band) + tolerance(i)) left.push_back(i);
  }
  std::sort(left.begin(), left.end(),
            [&](std::size_t a, std::size_t b) { return result_.standings[a].score < result_.standings[b].score; });
  return left;
}

/// Returns the remaining candidates in order of preference. Candidates about as good as the best come first: within
/// `near` of the unchanged cost, or within the noise. Among these, candidates that keep the allocator come first, then
/// candidates with fewer settings, then candidates that take less memory.
std::vector<std::size_t> Screening::ranked() const {
  std::vector<std::size_t> left = standing();
  if (left.empty()) return left;
  const auto cost = [&](std::size_t each) { return std::exp(result_.standings[each].score); };
  const std::size_t best = left.front();
  const auto rank = [&](std::size_t each) {
    const double noise = std::hypot(cost(each) * tolerance(each), cost(best) * tolerance(best));
    const bool near = cost(each) - cost(best) <= std::max(method_.near, noise);
    const Candidate& candidate = candidates_[each];
    return std::tuple(!near, near && candidate.preload, near ? candidate.settings : 0,
                      near ? median_figure(result_.runs, each, Goal::kMemory) : cost(each));
  };
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return left;
}

bool Screening::is_far_behind(std::size_t candidate, std::size_t best) const {
  const double own = result_.standings[candidate].score;
  const double least = result_.standings[best].score;
  return std::exp(own) - std::exp(least) > method_.near && is_clearly_more(own, least, tolerance(candidate));
}

/// Returns the candidates that worked but drop out: slower than the unchanged program, far behind the best candidate,
/// or too heavy.
std::vector<std::size_t> Screening::dropping_out() const {
  const std::vector<std::size_t> by_score = standing();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (result_.standings[i].state != Standing::State::kOk) continue;
    const bool stands = std::find(by_score.begin(), by_score.end(), i) != by_score.end();
    if (!stands || is_far_behind(i, by_score.front())) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Screening::better_half() const {
  const std::vector<std::size_t> by_score = standing();
  std::vector<std::size_t> left = ranked();
  const std::size_t half = std::max(kFewest, (left.size() + 1) / 2);
  if (left.size() > half) left.resize(half);
  // The fastest candidates always stay, because the candidates preferred to them may have had lucky runs.
  for (std::size_t i = 0; i < std::min(kFastest, by_score.size()); ++i) {
    if (std::find(left.begin(), left.end(), by_score[i]) == left.end()) left.push_back(by_score[i]);
  }
  std::erase_if(left, [&](std::size_t each) { return is_far_behind(each, by_score.front()); });
  return left;
}

bool Screening::may_join(const Candidate& candidate, std::string& why) const {
  for (const std::size_t part : candidate.parts) {
    const Standing& standing = result_.standings[part];
    if (standing.state != Standing::State::kOk || standing.log_ratios.empty()) {
      why = standing.state == Standing::State::kNotTried ? "a part of it was not tried" : "a part of it did not work";
      return false;
    }
    if (candidate.parts_must_gain && standing.score > -std::log1p(method_.near)) {
      why = "not both parts of it gained anything alone";
      return false;
    }
    if (standing.score > std::log1p(method_.band) + tolerance(part)) {
      why = "a part of it alone was slower";
      return false;
    }
  }
  return true;
}

/// Returns the combinations whose parts did well. The most promising comes first.
std::vector<std::size_t> Screening::joining() {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].parts.empty()) continue;
    if (!may_join(candidates_[i], result_.standings[i].why)) continue;
    double sum = 0;
    for (const std::size_t part : candidates_[i].parts) sum += result_.standings[part].score;
    found.emplace_back(sum, i);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> joining;
  for (const auto& [score, candidate] : found) {
    if (joining.size() < method_.most_joined) {
      joining.push_back(candidate);
    } else {
      result_.standings[candidate].why = "others were more promising";
    }
  }
  return joining;
}

bool Screening::run() {
  on_part_("the program as it is", 3);
  for (const Phase phase : {Phase::kWarmUp, Phase::kScreen, Phase::kScreen}) {
    if (!once(phase, 0, kPresent)) return false;
  }
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].parts.empty()) {
      first.push_back(i);
    } else {
      result_.standings[i].why = "the search ended before this remedy was tried";
    }
  }
  if (first.empty()) return true;
  bool going = first_round(first);
  if (!going || method_.brief) return going;
  std::vector<std::size_t> contestants = better_half();
  for (const std::size_t candidate : joining()) contestants.push_back(candidate);
  if (contestants.empty()) return true;
  going = round(contestants, 2);
  rate();
  contestants = finalists();
  if (!going || contestants.size() < 2) return going;
  going = round(contestants, 2);
  rate();
  return going;
}

std::vector<std::size_t> Screening::finalists() const {
  std::vector<std::size_t> left = ranked();
  // No confirmation can prove a gain within the band. A candidate with a slightly smaller gain stays, because its true
  // gain may be larger.
  const double least = 0.8 * std::log1p(method_.band);
  std::erase_if(left, [&](std::size_t each) { return result_.standings[each].score > -least; });
  if (left.size() > kFinalists) left.resize(kFinalists);
  return left;
}

}  // namespace zerotax::advise
