#include "record/levers.h"

#include <cstdlib>

#include "base/units.h"
#include "record/remedies.h"

namespace zerotax::record {
namespace {

/// Puts a value in place of each {}.
std::string filled(std::string text, const std::string& value) {
  for (std::size_t at = 0; (at = text.find("{}", at)) != std::string::npos; at += value.size()) {
    text.replace(at, 2, value);
  }
  return text;
}

}  // namespace

std::vector<std::string> values_of(const Lever& lever) {
  if (lever.values) return *lever.values;
  std::vector<std::string> values;
  for (std::uint64_t value = lever.from.value_or(0); value != 0 && value <= lever.to.value_or(0); value *= 2) {
    values.push_back(std::to_string(value));
  }
  return values;
}

std::map<std::string, std::string> setting_of(const Lever& lever, const std::string& value) {
  std::map<std::string, std::string> env;
  for (const auto& [variable, text] : lever.env) env[variable] = filled(text, value);
  return env;
}

std::string value_text(const Lever& lever, const std::string& value) {
  if (lever.unit == LeverUnit::kBytes && value != "0") return format_size(std::strtoull(value.c_str(), nullptr, 10));
  return lever.unit == LeverUnit::kMs && value != "-1" ? value + " ms" : value;
}

std::string words_of(const Lever& lever, const std::string& value) {
  return filled(lever.words, lever.unit == LeverUnit::kBytes ? value_text(lever, value) : value);
}

std::vector<Lever> known_levers(const std::string& allocator) {
  return upstream_of_allocator(allocator).levers.value_or(std::vector<Lever>{});
}

}  // namespace zerotax::record
