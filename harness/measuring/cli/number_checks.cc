#include "cli/number_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>

namespace zerotax {
namespace {

template <typename T>
bool is_number(const std::string& word) {
  T value{};
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && end == word.data() + word.size();
}

/// A leading zero means base 8 to some.
bool has_leading_zero(const std::string& word) {
  const std::size_t first = word.starts_with('-') ? 1 : 0;
  return word.size() > first + 1 && word[first] == '0' && word[first + 1] >= '0' && word[first + 1] <= '9';
}

template <typename T>
CLI::Validator decimal(const char* what) {
  const auto check = [what](std::string& word) {
    if (is_number<T>(word) && !has_leading_zero(word)) return std::string();
    return fmt::format("'{}' is not {}", word, what);
  };
  return {check, ""};
}

}  // namespace

void add_number_check(CLI::Option& option, bool whole) {
  if (whole) {
    option.check(decimal<std::int64_t>("a whole decimal number in range"));
  } else {
    option.check(decimal<double>("a decimal number"));
  }
}

}  // namespace zerotax
