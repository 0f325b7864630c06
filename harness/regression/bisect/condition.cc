#include "bisect/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/size.h"

namespace zerotax::bisect {
namespace {

// Longer ones first: "<=" begins with "<".
constexpr Comparison kComparisons[] = {{"==", [](double one, double other) { return one == other; }},
                                       {"!=", [](double one, double other) { return one != other; }},
                                       {"<=", [](double one, double other) { return one <= other; }},
                                       {">=", [](double one, double other) { return one >= other; }},
                                       {"<", [](double one, double other) { return one < other; }},
                                       {">", [](double one, double other) { return one > other; }}};

std::string without_blanks(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

Condition parse_condition(const std::string& text) {
  const std::size_t at = text.find_first_of("=!<>");
  if (at == std::string::npos) throw UsageError(fmt::format("invalid --expect '{}'", text), kExpectForm);
  const std::string rest = text.substr(at);
  const Comparison* found = std::find_if(std::begin(kComparisons), std::end(kComparisons),
                                         [&](const Comparison& each) { return rest.starts_with(each.sign); });
  if (found == std::end(kComparisons)) {
    throw UsageError(fmt::format("invalid --expect '{}'", text), "choose one of == != < <= > >=");
  }
  return {without_blanks(text.substr(0, at)), found, without_blanks(rest.substr(found->sign.size()))};
}

double parse_expected(const std::string& value, bool of_bytes) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (!value.empty() && error == std::errc() && end == value.data() + value.size() && std::isfinite(number)) {
    return number;
  }
  if (!of_bytes || value.empty()) throw UsageError(fmt::format("--expect: '{}' is no number", value), kExpectForm);
  return static_cast<double>(parse_size(value));
}

}  // namespace zerotax::bisect
