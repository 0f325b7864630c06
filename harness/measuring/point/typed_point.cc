#include "point/typed_point.h"

#include <fmt/format.h>

#include <algorithm>

#include "point/plan.h"

namespace zerotax {

bool Point::has_violation(PointStatus promise) const {
  return std::find(violations.begin(), violations.end(), word_of(promise)) != violations.end();
}

bool is_healthy(const Point& point) { return is_healthy(point.status); }

bool has_result(const Point& point) { return has_result(point.status); }

std::string key_of(const Point& point) {
  return point_key(point.allocator, point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string allocator_label(const Point& point) {
  std::string label = point.allocator;
  if (const auto version = point.version.word()) label += " " + *version;
  return label + settings_words(point.env);
}

std::string settings_words(const std::map<std::string, std::string>& env) {
  std::string words;
  for (const auto& [key, value] : env) words += fmt::format("{}{}={}", words.empty() ? " [" : " ", key, value);
  return words.empty() ? words : words + "]";
}

}  // namespace zerotax
