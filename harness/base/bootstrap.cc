#include "base/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/statistics.h"

namespace zerotax {
namespace {

/// Overwrites the order of `values`.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The normal quantile that leaves `tail` above it, by bisection of the complementary error function.
double normal_quantile(double tail) {
  double low = 0;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2) / 2 > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

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
  return median_in_place(values);
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
      row[i] = median_in_place(drawn);
    }
  }
  return medians;
}

Interval percentile_interval(const std::vector<double>& estimates, double level) {
  return {quantile(estimates, (1 - level) / 2), quantile(estimates, (1 + level) / 2)};
}

double student_quantile(double tail, double degrees_of_freedom) {
  const double v = std::max(4.0, degrees_of_freedom);
  const double z = normal_quantile(tail);
  const double z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + g1 / v + g2 / (v * v) + g3 / (v * v * v) + g4 / (v * v * v * v);
}

}  // namespace zerotax
