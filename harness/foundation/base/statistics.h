#pragma once

#include <cstdint>
#include <vector>

namespace zerotax {

/// A sample in three numbers, in the unit of its values.
struct Spread {
  double median;
  double p05;
  double p95;
  bool operator==(const Spread&) const = default;
};

/// The q-quantile (0 <= q <= 1) of a non-empty sample, linear between order statistics (R's type 7).
double quantile(std::vector<double> values, double q);

/// Median, 5th and 95th percentile of a non-empty sample.
Spread spread(const std::vector<double>& values);

/// The mean and the sample variance (divided by n - 1; of one value 0) of a non-empty sample, in the unit of its values
/// and its square.
struct Moments {
  double mean;
  double variance;
};
Moments moments(const std::vector<double>& values);

/// The lower median of a non-empty sample of counts: always a count that was observed.
std::int64_t observed_median(std::vector<std::int64_t> values);

}  // namespace zerotax
