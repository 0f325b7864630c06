#include "advise/estimates.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/statistics.h"

namespace zerotax::advise {
namespace {

constexpr double kLeastNoise = 0.003;
/// Factor from a median of absolute deviations to the standard deviation of a normal distribution.
constexpr double kToDeviation = 1.4826;
/// Number of pairs beyond the fewest that can prove a gain, so that one or two pairs may show a loss.
constexpr unsigned kSpare = 2;
constexpr double kPower = 0.9;
/// Degrees of freedom from which Student's distribution is taken to equal the normal distribution.
constexpr double kNormal = 1e6;

bool is_reference(const SearchRun& run, Goal goal) {
  return figure_of(run.trial.figures, goal) && run.candidate == kPresent && run.trial.end == Trial::End::kOk &&
         run.phase != Phase::kWarmUp;
}

double log_of(const SearchRun& run, Goal goal) { return std::log(*figure_of(run.trial.figures, goal)); }

}  // namespace

std::vector<std::vector<double>> ratios_to_neighbours(const std::vector<SearchRun>& runs, std::size_t candidates,
                                                      Goal goal) {
  std::vector<std::vector<double>> ratios(candidates);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].candidate == kPresent || runs[i].trial.end != Trial::End::kOk) continue;
    if (runs[i].phase == Phase::kWarmUp || !figure_of(runs[i].trial.figures, goal)) continue;
    std::vector<double> around;
    const auto add = [&](const SearchRun& reference) {
      if (!is_reference(reference, goal)) return false;
      const auto ratio = log_ratio_of(runs[i].trial.figures, reference.trial.figures, goal);
      if (ratio) around.push_back(*ratio);
      return ratio.has_value();
    };
    for (std::size_t before = i; before-- > 0;) {
      if (add(runs[before])) break;
    }
    for (std::size_t after = i + 1; after < runs.size(); ++after) {
      if (add(runs[after])) break;
    }
    if (!around.empty()) ratios[runs[i].candidate].push_back((around.front() + around.back()) / 2);
  }
  return ratios;
}

double noise_of_present(const std::vector<SearchRun>& runs, Goal goal) {
  std::vector<double> differences;
  std::optional<double> before;
  for (const SearchRun& run : runs) {
    if (!is_reference(run, goal)) continue;
    const double now = log_of(run, goal);
    if (before) differences.push_back(std::abs(now - *before));
    before = now;
  }
  if (differences.empty()) return kLeastNoise;
  return std::max(kLeastNoise, kToDeviation * median(differences) / std::sqrt(2.0));
}

double noise_of_score(double noise, std::size_t runs) {
  // In units of noise², a run has a variance of 1, and the mean of its two reference runs has a variance of 1/2.
  return noise * std::sqrt(1.5 / static_cast<double>(std::max<std::size_t>(1, runs)));
}

TimeVerdict::Kind kind_of_score(double score, double score_noise, double band) {
  const double margin = std::log1p(band);
  if (std::abs(score) > std::max(margin, 3 * score_noise)) {
    return score < 0 ? TimeVerdict::Kind::kFaster : TimeVerdict::Kind::kSlower;
  }
  return std::abs(score) + 2 * score_noise < std::log1p(2 * band) ? TimeVerdict::Kind::kSame
                                                                  : TimeVerdict::Kind::kAmbiguous;
}

unsigned pairs_needed(double gain, double noise, double alpha, unsigned most) {
  const auto fewest = static_cast<unsigned>(fewest_pairs(1, alpha)) + kSpare;
  const double of_pair = std::sqrt(2.0) * noise;
  const double quantiles = student_quantile(alpha / 2, kNormal) + student_quantile(1 - kPower, kNormal);
  // The signed-rank test needs a twentieth more pairs than the test of the mean, because its efficiency is 3 / pi.
  const double wanted = std::ceil(1.05 * std::pow(quantiles * of_pair / std::max(std::abs(gain), 1e-6), 2));
  return static_cast<unsigned>(std::clamp<double>(wanted, std::min(fewest, most), most));
}

double median_figure(const std::vector<SearchRun>& runs, std::size_t candidate, Goal goal) {
  std::vector<double> values;
  for (const SearchRun& run : runs) {
    if (run.candidate != candidate || run.trial.end != Trial::End::kOk) continue;
    const auto value = figure_of(run.trial.figures, goal);
    if (run.phase != Phase::kWarmUp && value) values.push_back(*value);
  }
  return values.empty() ? 0 : median(values);
}

bool is_peak_heavy(const std::vector<SearchRun>& runs, std::size_t candidate, const SearchMethod& method) {
  const double own = median_figure(runs, candidate, Goal::kMemory);
  const double present = median_figure(runs, kPresent, Goal::kMemory);
  return own > present * method.memory_ratio && own > present + method.memory_slack;
}

void rate_standings(SearchResult& result, Goal goal, double band, const std::function<bool(std::size_t)>& is_heavy) {
  const auto ratios = ratios_to_neighbours(result.runs, result.standings.size(), goal);
  result.noise = noise_of_present(result.runs, goal);
  for (std::size_t i = 0; i < result.standings.size(); ++i) {
    Standing& standing = result.standings[i];
    standing.log_ratios = ratios[i];
    if (ratios[i].empty()) continue;
    standing.score = median(ratios[i]);
    standing.heavy = is_heavy(i);
    standing.kind = kind_of_score(standing.score, noise_of_score(result.noise, ratios[i].size()), band);
  }
}

}  // namespace zerotax::advise
