#include "base/statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace zerotax {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  // std::lerp never leaves the interval between its ends. Percentiles therefore ascend, and equal values have equal
  // quantiles.
  return std::lerp(sorted[below], sorted[above], weight);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw std::invalid_argument("quantile of an empty sample");
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

Spread spread(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("spread of an empty sample");
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return {sorted_quantile(sorted, 0.5), sorted_quantile(sorted, 0.05), sorted_quantile(sorted, 0.95)};
}

Moments moments(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("moments of an empty sample");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {mean, 0};
  // In a single pass, the sum of squares would lose the low digits of times that differ little.
  const double squares = std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
  return {mean, squares / (count - 1)};
}

std::int64_t observed_median(std::vector<std::int64_t> values) {
  if (values.empty()) throw std::invalid_argument("median of an empty sample");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::uint64_t Random::next() {
  state_ += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  return mixed ^ (mixed >> 31);
}

std::size_t Random::below(std::size_t bound) { return static_cast<std::size_t>(((next() >> 32) * bound) >> 32); }

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("median of an empty sample");
  return boost::math::statistics::median(values);
}

std::vector<std::vector<double>> resampled_medians(const std::vector<std::vector<double>>& samples,
                                                   std::size_t resamples, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> medians(resamples, std::vector<double>(samples.size()));
  std::vector<double> drawn;
  for (std::vector<double>& row : medians) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::vector<double>& sample = samples[i];
      if (sample.empty()) throw std::invalid_argument("resample of an empty sample");
      drawn.resize(sample.size());
      for (double& value : drawn) value = sample[random.below(sample.size())];
      row[i] = boost::math::statistics::median(drawn);
    }
  }
  return medians;
}

Interval percentile_interval(const std::vector<double>& estimates, double level) {
  return {quantile(estimates, (1 - level) / 2), quantile(estimates, (1 + level) / 2)};
}

}  // namespace zerotax

// These headers take four seconds to compile, so no other file includes them.

namespace zerotax {

double student_quantile(double tail, double degrees_of_freedom) {
  const boost::math::students_t distribution(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(distribution, tail));
}

Interval binomial_interval(std::size_t hits, std::size_t trials) {
  constexpr double kTail = 0.025;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(hits);
  return {boost::math::binomial::find_lower_bound_on_p(n, k, kTail),
          boost::math::binomial::find_upper_bound_on_p(n, k, kTail)};
}

SignedRankNull::SignedRankNull(std::size_t n) : n_(n) {
  constexpr std::size_t kMost = 200;
  if (n < 1 || n > kMost) throw std::invalid_argument("signed ranks of 1 to 200 values");
  // Each rank is part of the sum with probability 1/2.
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t w = rank * (rank + 1) / 2 + 1; w-- > 0;) {
      probability[w] = (probability[w] + (w >= rank ? probability[w - rank] : 0)) / 2;
    }
  }
  double sum = 0;
  for (const double each : probability) cumulative_.push_back(sum += each);
}

double SignedRankNull::at_most(std::size_t w) const {
  return std::min(1.0, cumulative_[std::min(w, cumulative_.size() - 1)]);
}

std::size_t SignedRankNull::cut(double level) const {
  const auto end = std::find_if(cumulative_.begin(), cumulative_.end(), [&](double each) { return 2 * each > level; });
  return static_cast<std::size_t>(end - cumulative_.begin());
}

std::vector<double> walsh_averages(const std::vector<double>& sample) {
  std::vector<double> averages;
  averages.reserve(sample.size() * (sample.size() + 1) / 2);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (std::size_t j = i; j < sample.size(); ++j) averages.push_back((sample[i] + sample[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double signed_rank_p(const std::vector<double>& averages, const SignedRankNull& null) {
  const auto below =
      static_cast<std::size_t>(std::upper_bound(averages.begin(), averages.end(), 0.0) - averages.begin());
  const auto above = static_cast<std::size_t>(averages.end() - std::lower_bound(averages.begin(), averages.end(), 0.0));
  return std::min(1.0, 2 * null.at_most(std::min(below, above)));
}

Interval signed_rank_interval(const std::vector<double>& averages, const SignedRankNull& null, double level) {
  // Repeats the arithmetic of signed_rank_p, so that the interval and the probability never contradict each other.
  const std::size_t k = std::min(null.cut(1 - level), (averages.size() + 1) / 2);
  if (k == 0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  return {averages[k - 1], averages[averages.size() - k]};
}

}  // namespace zerotax
