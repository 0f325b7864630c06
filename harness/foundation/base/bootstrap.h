#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zerotax {

/// An interval, both ends included, in the unit of its quantity.
struct Interval {
  double low;
  double high;
};

/// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// A whole number from 0 to `bound` - 1; `bound` must be 1 to 2^32 - 1.
  std::size_t below(std::size_t bound);

 private:
  std::uint64_t state_;
};

/// The median of a non-empty sample; of an even number of values, the mean of the two in the middle.
double median(std::vector<double> values);

/// For each of `resamples` bootstrap resamples (Efron 1979) the median of each sample: as many values are drawn from
/// it, with replacement, as it has. The same samples and seed give the same medians. No sample may be empty.
std::vector<std::vector<double>> resampled_medians(const std::vector<std::vector<double>>& samples,
                                                   std::size_t resamples, std::uint64_t seed);

/// The percentile interval of this level (0 to 1) of a non-empty set of bootstrap estimates.
Interval percentile_interval(const std::vector<double>& estimates, double level);

}  // namespace zerotax
