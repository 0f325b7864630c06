#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::trace {

/// Times in whole nanoseconds, for their mean and variance: exact sums, so that their order makes no difference.
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
  /// In ns, of one or more.
  [[nodiscard]] double mean() const { return static_cast<double>(sum_) / static_cast<double>(count_); }
  /// Of the sample (divided by n - 1), in ns squared, of two or more.
  [[nodiscard]] double variance() const {
    const auto n = static_cast<long double>(count_);
    const auto pairs = n * (n - 1);
    // Exact wherever that fits, because two large numbers differ by little here.
    if (squares_ < ~Wide{0} / count_) {
      return static_cast<double>(static_cast<long double>(count_ * squares_ - sum_ * sum_) / pairs);
    }
    const auto sum = static_cast<long double>(sum_);
    return static_cast<double>(std::max(n * static_cast<long double>(squares_) - sum * sum, 0.0L) / pairs);
  }

 private:
  __extension__ using Wide = unsigned __int128;  ///< 10^9 calls of a day each fit
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  Wide squares_ = 0;
};

struct Distribution {
  RESULT("distribution", "Distribution of times.");
  FIELD(std::uint64_t, count, "Number of pairs of events.");
  FIELD(Measured<double>, total_ns, "Their sum, in ns.");
  FIELD(Measured<double>, mean_ns, "Mean of the times, in ns.");
  FIELD(Measured<double>, variance_ns2,
        "Variance of the times (divided by their number minus 1), in ns squared; n/a for one.");
  FIELD(Measured<double>, min_ns, "Minimum of the times, in ns.");
  FIELD(Measured<double>, p25_ns, "First quartile of the times, in ns.");
  FIELD(Measured<double>, median_ns, "Median of the times, in ns.");
  FIELD(Measured<double>, p75_ns, "Third quartile of the times, in ns.");
  FIELD(Measured<double>, p95_ns, "95th percentile of the times, in ns.");
  FIELD(Measured<double>, p99_ns, "99th percentile of the times, in ns.");
  FIELD(Measured<double>, max_ns, "Maximum of the times, in ns.");
};

struct HistogramRow {
  RESULT("histogram row", "How many times lie in a class: from_ns <= time < to_ns.");
  FIELD(double, from_ns, "The shortest time of the class, in ns.");
  FIELD(double, to_ns, "Times of the class are shorter than this, in ns.");
  FIELD(std::uint64_t, count, "Number of times.");
};

Distribution distribution_of(const std::vector<double>& ns);

/// The classes from the lowest that has any time to the highest, with limits 1, 2, 5, 10, 20, 50 ... ns; the first one
/// begins at 0. Empty without times.
std::vector<HistogramRow> histogram_of(const std::vector<double>& ns);

/// A line with a bar for each class of a histogram, `columns` wide at most; empty for an empty one.
std::string histogram_text(const std::vector<HistogramRow>& histogram, std::size_t columns);

}  // namespace zerotax::trace
