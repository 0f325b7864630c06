#pragma once

#include <cstddef>
#include <vector>

#include "base/bootstrap.h"

namespace zerotax {

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
