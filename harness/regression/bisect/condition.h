#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zerotax::bisect {

/// A comparison with a number: one of == != < <= > >=.
struct Comparison {
  std::string_view sign;
  bool (*holds)(double one, double other);

  [[nodiscard]] bool is(std::string_view other) const { return sign == other; }
};

/// A sentence of --expect, taken apart.
struct Condition {
  std::string subject;
  const Comparison* comparison = nullptr;
  std::string value;
};

inline constexpr const char* kExpectForm = "give METRIC OPERATOR VALUE, as in 'zeroed_bytes == 0'";

/// Throws UsageError for a text that is not of this form.
Condition parse_condition(const std::string& text);

/// The number of a condition's value; a size, as in 4KiB, where it is `of_bytes`. Throws UsageError for any other word.
double parse_expected(const std::string& value, bool of_bytes);

}  // namespace zerotax::bisect
