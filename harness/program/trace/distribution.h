#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::trace {

/// Sums of times in whole nanoseconds, for the mean and the variance. The sums are exact, so the order of the times
/// makes no difference.
class TimeSums {
 public:
  void add(std::uint64_t ns) {
    ++count_;
    sum_ += ns;
    squares_ += Wide{ns} * ns;
  }
  void add(const TimeSums& more) {
    count_ += more.count_;
    sum_ += more.sum_;
    squares_ += more.squares_;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return static_cast<std::uint64_t>(sum_); }
  /// Mean in ns. Needs at least one time.
  [[nodiscard]] double mean() const { return static_cast<double>(sum_) / static_cast<double>(count_); }
  /// Variance of the sample (divided by n - 1) in ns squared. Needs at least two times.
  [[nodiscard]] double variance() const {
    const auto n = static_cast<long double>(count_);
    const auto pairs = n * (n - 1);
    // Uses exact integers if the products fit, because the difference of two large floating-point numbers loses
    // precision.
    if (squares_ < ~Wide{0} / count_) {
      return static_cast<double>(static_cast<long double>(count_ * squares_ - sum_ * sum_) / pairs);
    }
    const auto sum = static_cast<long double>(sum_);
    return static_cast<double>(std::max(n * static_cast<long double>(squares_) - sum * sum, 0.0L) / pairs);
  }

 private:
  __extension__ using Wide = unsigned __int128;  ///< holds the sum of squares for a day with 10^9 calls
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  Wide squares_ = 0;
};

struct Distribution {
  RESULT("distribution", "Distribution of times.");
  FIELD(std::uint64_t, count, "Number of pairs of events.");
  FIELD(Measured<double>, total_ns, "Sum of the times, in ns.");
  FIELD(Measured<double>, mean_ns, "Mean of the times, in ns.");
  FIELD(Measured<double>, variance_ns2,
        "Variance of the times (divided by their number minus 1), in ns squared; n/a if there is only one time.");
  FIELD(Measured<double>, min_ns, "Minimum of the times, in ns.");
  FIELD(Measured<double>, p25_ns, "First quartile of the times, in ns.");
  FIELD(Measured<double>, median_ns, "Median of the times, in ns.");
  FIELD(Measured<double>, p75_ns, "Third quartile of the times, in ns.");
  FIELD(Measured<double>, p95_ns, "95th percentile of the times, in ns.");
  FIELD(Measured<double>, p99_ns, "99th percentile of the times, in ns.");
  FIELD(Measured<double>, max_ns, "Maximum of the times, in ns.");
};

struct HistogramRow {
  RESULT("histogram row", "Number of times in the class, with from_ns <= time < to_ns.");
  FIELD(double, from_ns, "Lower limit of the class, in ns.");
  FIELD(double, to_ns, "Upper limit of the class, in ns.");
  FIELD(std::uint64_t, count, "Number of times in the class.");
};

Distribution distribution_of(const std::vector<double>& ns);

/// Returns the classes from the lowest to the highest that contains a time. Limits are 1, 2, 5, 10, 20, 50 ... ns; the
/// first class begins at 0. Returns no classes if there are no times.
std::vector<HistogramRow> histogram_of(const std::vector<double>& ns);

/// Returns a line with a bar for each class of a histogram, at most `columns` wide. Returns no lines for an empty
/// histogram.
std::string histogram_text(const std::vector<HistogramRow>& histogram, std::size_t columns);

}  // namespace zerotax::trace
