#pragma once

#include <cstddef>
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

/// The quantile of Student's t distribution that leaves `tail` (above 0, below 1) above it. `degrees_of_freedom` must
/// be above 0, and need not be whole.
double student_quantile(double tail, double degrees_of_freedom);

/// The interval of a probability, 95 %, when `hits` of `trials` happened (Clopper and Pearson, 1934). `hits` must be at
/// most `trials`, and `trials` at least 1.
Interval binomial_interval(std::size_t hits, std::size_t trials);

/// Wilcoxon's signed-rank statistic under the null hypothesis, exactly: of `n` differences each is as likely to be
/// above 0 as below it, independently, whatever their sizes (Wilcoxon 1945; Hollander, Wolfe and Chicken, Nonparametric
/// Statistical Methods, 3.1).
class SignedRankNull {
 public:
  /// `n` from 1 to 200.
  explicit SignedRankNull(std::size_t n);

  [[nodiscard]] std::size_t n() const { return n_; }
  /// Probability that the statistic is at most `w`.
  [[nodiscard]] double at_most(std::size_t w) const;
  /// The largest number k of values that may lie on the wrong side: 2 P(W <= k - 1) <= level. 0 if not even W = 0 is
  /// as rare as that.
  [[nodiscard]] std::size_t cut(double level) const;

 private:
  std::size_t n_;
  std::vector<double> cumulative_;
};

/// The Walsh averages (x_i + x_j) / 2 for i <= j of a sample, ascending. Their median is Hodges and Lehmann's estimate
/// of the sample's centre.
std::vector<double> walsh_averages(const std::vector<double>& sample);

/// The two-sided probability of a sample at least as one-sided as this one, from its Walsh averages. Averages of
/// exactly 0 count against either side, which keeps it valid with ties.
double signed_rank_p(const std::vector<double>& averages, const SignedRankNull& null);

/// The confidence interval of the centre that excludes 0 exactly when signed_rank_p is at most 1 - `level`. Infinite
/// where there are too few values for that level.
Interval signed_rank_interval(const std::vector<double>& averages, const SignedRankNull& null, double level);

}  // namespace zerotax
