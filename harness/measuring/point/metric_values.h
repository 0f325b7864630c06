#pragma once

#include <array>

#include "os/page.h"
#include "point/metric_value.h"
#include "point/metrics.h"

namespace zerotax {

/// A value for each metric: of a point, of one of its first operations, or of a kind of call.
class MetricValues {
 public:
  MetricValue& operator[](Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  const MetricValue& operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }

  /// Whether there is a value, and not only a reason why there is none.
  [[nodiscard]] bool is_measured(Metric metric) const { return (*this)[metric].is_measured(); }
  /// A count, bytes, or the nanoseconds of a single operation.
  [[nodiscard]] std::optional<std::uint64_t> count(Metric metric) const { return (*this)[metric].count(); }
  /// Any number; of a time spread, its median.
  [[nodiscard]] std::optional<double> number(Metric metric) const { return (*this)[metric].number(); }
  [[nodiscard]] std::optional<Spread> spread(Metric metric) const { return (*this)[metric].spread(); }
  [[nodiscard]] std::optional<std::string> word(Metric metric) const { return (*this)[metric].word(); }
  [[nodiscard]] bool is_word(Metric metric, std::string_view text) const { return word(metric) == text; }
  /// nullptr if they were not counted.
  [[nodiscard]] const SystemCalls* calls(Metric metric) const { return (*this)[metric].calls(); }
  /// How often a system call was made: 0 if it was not; nothing if they were not counted.
  [[nodiscard]] std::optional<std::uint64_t> calls(Metric metric, std::string_view system_call) const;
  /// Why there is no value; empty if there is one.
  [[nodiscard]] std::string why_not(Metric metric) const { return (*this)[metric].why_not(); }

  /// Whether zeroed bytes are an upper bound: some of them were found by their pages. False for any other metric.
  [[nodiscard]] bool is_upper_bound(Metric metric) const;
  /// A count that is evidence: zeroed bytes that are an upper bound of less than two pages are 0, for a page may be
  /// there for a store of eight bytes. A time is its median, rounded.
  [[nodiscard]] std::optional<std::uint64_t> evident_count(Metric metric) const;

  /// Whether it has a value or a reason for any metric of this group: a point has transfer and fork only if its case
  /// receives or forks.
  [[nodiscard]] bool has(MetricGroup group) const;

  /// Bytes of a page of the machine that measured this: a document may come from another one.
  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }
  void set_page_bytes(std::uint64_t bytes) { page_bytes_ = bytes; }

  friend bool operator==(const MetricValues& one, const MetricValues& other) { return one.values_ == other.values_; }

 private:
  std::array<MetricValue, kMetrics> values_;
  std::uint64_t page_bytes_ = zerotax::page_bytes();
};

}  // namespace zerotax
