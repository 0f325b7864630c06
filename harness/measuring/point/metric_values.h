#pragma once

#include <array>

#include "os/page.h"
#include "point/metric_value.h"
#include "point/metrics.h"

namespace zerotax {

/// A value for each metric of a point, of one of its first operations, or of a kind of call.
class MetricValues {
 public:
  MetricValue& operator[](Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  const MetricValue& operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }

  /// Whether there is a value, not absent and not n/a.
  [[nodiscard]] bool is_measured(Metric metric) const { return (*this)[metric].is_measured(); }
  /// Returns a count, a number of bytes, or the nanoseconds of a single operation.
  [[nodiscard]] std::optional<std::uint64_t> count(Metric metric) const { return (*this)[metric].count(); }
  /// Returns any number. For a metric of type kTimeSpread, returns the median.
  [[nodiscard]] std::optional<double> number(Metric metric) const { return (*this)[metric].number(); }
  [[nodiscard]] std::optional<Spread> spread(Metric metric) const { return (*this)[metric].spread(); }
  [[nodiscard]] std::optional<std::string> word(Metric metric) const { return (*this)[metric].word(); }
  [[nodiscard]] bool is_word(Metric metric, std::string_view text) const { return word(metric) == text; }
  /// Returns nullptr if the calls were not counted.
  [[nodiscard]] const SystemCalls* calls(Metric metric) const { return (*this)[metric].calls(); }
  /// Returns how often a system call was made (0 if never), or nothing if calls were not counted.
  [[nodiscard]] std::optional<std::uint64_t> calls(Metric metric, std::string_view system_call) const;
  /// Returns why there is no value, or "" if there is one.
  [[nodiscard]] std::string why_not(Metric metric) const { return (*this)[metric].why_not(); }

  /// Whether zeroed bytes are an upper bound, because some of them are known only from pages that were written to.
  /// Returns false for any other metric.
  [[nodiscard]] bool is_upper_bound(Metric metric) const;
  /// Returns a number to judge by. Zeroed bytes that are an upper bound of less than two pages become 0, because one
  /// store of eight bytes may count as a whole page. A time becomes its rounded median.
  [[nodiscard]] std::optional<std::uint64_t> evident_count(Metric metric) const;

  /// Whether any metric of this group has a value or is n/a. A point has the group transfer only if its case receives,
  /// and the group fork only if its case forks.
  [[nodiscard]] bool has(MetricGroup group) const;

  /// Returns the page size in bytes of the machine that measured these values, because a document may come from another
  /// machine.
  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }
  void set_page_bytes(std::uint64_t bytes) { page_bytes_ = bytes; }

  friend bool operator==(const MetricValues& one, const MetricValues& other) { return one.values_ == other.values_; }

 private:
  std::array<MetricValue, kMetrics> values_;
  std::uint64_t page_bytes_ = zerotax::page_bytes();
};

}  // namespace zerotax
