#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zerotax {

/// A sample summarized by three numbers, in the unit of its values.
struct Spread {
  double median;
  double p05;
  double p95;
  bool operator==(const Spread&) const = default;
};

/// Returns the q-quantile (0 <= q <= 1) of a non-empty sample, linear between order statistics (R's type 7).
double quantile(std::vector<double> values, double q);

/// Returns the median and the 5th and 95th percentiles of a non-empty sample.
Spread spread(const std::vector<double>& values);

/// The mean of a non-empty sample in the unit of its values, and its variance in that unit squared. The variance
/// divides by n - 1, and is 0 for a single value.
struct Moments {
  double mean;
  double variance;
};
Moments moments(const std::vector<double>& values);

/// Returns the lower median of a non-empty sample of counts. The lower median is always an observed count.
std::int64_t observed_median(std::vector<std::int64_t> values);

/// An interval that includes both ends, in the unit of its quantity.
struct Interval {
  double low;
  double high;
};

/// Generates random numbers that are the same on every machine, by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Returns a whole number from 0 to `bound` - 1. `bound` must be 1 to 2^32 - 1.
  std::size_t below(std::size_t bound);

 private:
  std::uint64_t state_;
};

/// Returns the median of a non-empty sample: for an even number of values, the mean of the two in the middle.
double median(std::vector<double> values);

/// Returns the median of each sample in each of `resamples` bootstrap resamples (Efron 1979). A resample draws as many
/// values as the sample has, with replacement. The same samples and seed give the same medians. No sample may be empty.
std::vector<std::vector<double>> resampled_medians(const std::vector<std::vector<double>>& samples,
                                                   std::size_t resamples, std::uint64_t seed);

/// Returns the percentile interval of this level (0 to 1) of a non-empty set of bootstrap estimates.
Interval percentile_interval(const std::vector<double>& estimates, double level);

/// Returns the value that Student's t exceeds with a probability of `tail` (above 0, below 1). `degrees_of_freedom`
/// must be above 0, and need not be whole.
double student_quantile(double tail, double degrees_of_freedom);

/// Returns the 95 % interval of a probability, given `hits` in `trials` (Clopper and Pearson, 1934). `hits` must be at
/// most `trials`, and `trials` at least 1.
Interval binomial_interval(std::size_t hits, std::size_t trials);

/// The exact distribution of Wilcoxon's signed-rank statistic under the null hypothesis. By this hypothesis, each of
/// `n` independent differences is as likely to be above 0 as below 0, whatever its size. Source: Wilcoxon 1945;
/// Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.1.
class SignedRankNull {
 public:
  /// `n` must be 1 to 200.
  explicit SignedRankNull(std::size_t n);

  [[nodiscard]] std::size_t n() const { return n_; }
  /// Returns the probability that the statistic is at most `w`.
  [[nodiscard]] double at_most(std::size_t w) const;
  /// Returns the largest k with 2 P(W <= k - 1) <= level, or 0 if 2 P(W = 0) exceeds `level`.
  [[nodiscard]] std::size_t cut(double level) const;

 private:
  std::size_t n_;
  std::vector<double> cumulative_;
};

/// Returns the Walsh averages (x_i + x_j) / 2 for i <= j of a sample, ascending. The median of these averages is the
/// Hodges-Lehmann estimate of the sample's center.
std::vector<double> walsh_averages(const std::vector<double>& sample);

/// Returns the two-sided p-value of the signed-rank test from the sample's Walsh averages: the probability of a sample
/// that is at least as one-sided. Averages of exactly 0 count against both sides, which keeps the probability valid
/// with ties.
double signed_rank_p(const std::vector<double>& averages, const SignedRankNull& null);

/// Returns the confidence interval of the center. The interval excludes 0 exactly when signed_rank_p is at most 1 -
/// `level`. The interval is infinite if there are too few values for the level.
Interval signed_rank_interval(const std::vector<double>& averages, const SignedRankNull& null, double level);

}  // namespace zerotax
