#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/statistics.h"

namespace zerotax {

/// Calls by the name of the system call, in the order of JSON.
using SystemCalls = std::vector<std::pair<std::string, std::uint64_t>>;

/// What was measured of one metric: a value, n/a with the reason, or nothing at all (a run of an earlier version, which
/// did not have this metric).
class MetricValue {
 public:
  MetricValue() = default;
  /// A whole number: a count, bytes, or nanoseconds. Throws std::invalid_argument below 0.
  static MetricValue whole(std::int64_t number);
  static MetricValue real(double number) { return MetricValue(number); }
  static MetricValue time(const Spread& spread) { return MetricValue(spread); }
  static MetricValue word(std::string word) { return MetricValue(std::move(word)); }
  static MetricValue calls(SystemCalls calls) { return MetricValue(std::move(calls)); }
  /// Throws std::invalid_argument for an empty reason.
  static MetricValue not_available(std::string why);

  [[nodiscard]] bool is_absent() const { return holds<std::monostate>(); }
  [[nodiscard]] bool is_not_available() const { return holds<Why>(); }
  [[nodiscard]] bool is_measured() const { return !is_absent() && !is_not_available(); }

  /// A whole number; empty for anything else.
  [[nodiscard]] std::optional<std::uint64_t> count() const;
  /// A number of any kind; of a time spread, its median.
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] std::optional<Spread> spread() const;
  [[nodiscard]] std::optional<std::string> word() const;
  /// nullptr if there are none.
  [[nodiscard]] const SystemCalls* calls() const { return std::get_if<SystemCalls>(&value_); }
  /// Why there is no value; empty if there is one.
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
