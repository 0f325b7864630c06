#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/statistics.h"
#include "os/page.h"
#include "point/metrics.h"

namespace zerotax {

/// Names of system calls with the number of calls, in the order of the keys in JSON.
using SystemCalls = std::vector<std::pair<std::string, std::uint64_t>>;

/// The result for one metric: a value, n/a with the reason, or absent. A metric is absent in a run of an earlier
/// version that did not have this metric.
class MetricValue {
 public:
  MetricValue() = default;
  /// Holds a whole number: a count, bytes, or nanoseconds. Throws std::invalid_argument if the number is negative.
  static MetricValue whole(std::int64_t number);
  static MetricValue real(double number) { return MetricValue(number); }
  static MetricValue time(const Spread& spread) { return MetricValue(spread); }
  static MetricValue word(std::string word) { return MetricValue(std::move(word)); }
  static MetricValue calls(SystemCalls calls) { return MetricValue(std::move(calls)); }
  /// Throws std::invalid_argument if the reason is empty.
  static MetricValue not_available(std::string why);

  [[nodiscard]] bool is_absent() const { return holds<std::monostate>(); }
  [[nodiscard]] bool is_not_available() const { return holds<Why>(); }
  [[nodiscard]] bool is_measured() const { return !is_absent() && !is_not_available(); }

  /// Returns a whole number; empty for anything else.
  [[nodiscard]] std::optional<std::uint64_t> count() const;
  /// Returns any number. For a metric of type kTimeSpread, returns the median.
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] std::optional<Spread> spread() const;
  [[nodiscard]] std::optional<std::string> word() const;
  /// Returns nullptr if the value is not a list of calls.
  [[nodiscard]] const SystemCalls* calls() const { return std::get_if<SystemCalls>(&value_); }
  /// Returns why there is no value, or "" if there is one.
  [[nodiscard]] std::string why_not() const;

  friend bool operator==(const MetricValue& one, const MetricValue& other) = default;

 private:
  struct Why {
    std::string text;
    bool operator==(const Why&) const = default;
  };
  using Value = std::variant<std::monostate, Why, std::uint64_t, double, Spread, std::string, SystemCalls>;

  explicit MetricValue(Value value) : value_(std::move(value)) {}
  template <typename Kind>
  [[nodiscard]] bool holds() const {
    return std::holds_alternative<Kind>(value_);
  }

  Value value_;
};

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
