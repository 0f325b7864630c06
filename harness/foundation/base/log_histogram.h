#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

namespace zerotax {

/// Counts values in buckets whose width is at most 1/64 of the value (after HdrHistogram), so that memory stays small
/// for any number of values.
class LogHistogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[bucket(value)];
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = std::max(max_, value);
    ++count_;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t min() const { return min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  /// Returns the q-quantile, within 1 %, or 0 if there are no values.
  [[nodiscard]] std::uint64_t quantile(double q) const {
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_ == 0 ? 0 : count_ - 1));
    std::uint64_t seen = 0;
    for (const auto& [least, count] : counts_) {
      seen += count;
      if (seen > rank) return std::clamp(middle(least), min_, max_);
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;

  static unsigned shift(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    return width > kBits + 1 ? width - kBits - 1 : 0;
  }
  /// Returns the smallest value in the bucket of `value`. This smallest value identifies the bucket.
  static std::uint64_t bucket(std::uint64_t value) { return value >> shift(value) << shift(value); }
  static std::uint64_t middle(std::uint64_t least) { return least + ((std::uint64_t{1} << shift(least)) - 1) / 2; }

  std::map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace zerotax
