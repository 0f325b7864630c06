#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/statistics.h"

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

}  // namespace zerotax
