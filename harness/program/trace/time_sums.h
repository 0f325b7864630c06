#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace zerotax::trace
