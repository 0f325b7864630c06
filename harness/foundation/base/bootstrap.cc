#include "base/bootstrap.h"

#include <boost/math/statistics/univariate_statistics.hpp>
#include <stdexcept>

#include "base/statistics.h"

namespace zerotax {

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
