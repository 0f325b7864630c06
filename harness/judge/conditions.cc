#include "judge/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fields.h"

namespace zerotax {
namespace {

Json value_of(const Json& conditions, const char* key) {
  const auto found = conditions.find(key);
  return found == conditions.end() || is_not_available(*found) ? Json("unknown") : *found;
}

std::string words_of(const Json& value) { return value.is_string() ? value.get<std::string>() : json_line(value); }

bool are_alike(const Json& before, const Json& after, double slack) {
  if (!before.is_number() || !after.is_number()) return before == after;
  const auto one = before.get<double>();
  const auto other = after.get<double>();
  return std::abs(one - other) <= slack * std::max(one, other);
}

}  // namespace

ZEROTAX_FIELDS_WRITTEN(ConditionDifference, name, before, after, may_explain, sentence)

std::vector<ConditionDifference> differing_conditions(const std::vector<ConditionRow>& rows, const Json& before,
                                                      const Json& after) {
  std::vector<ConditionDifference> found;
  for (const ConditionRow& row : rows) {
    const Json one = value_of(before, row.key);
    const Json other = value_of(after, row.key);
    if (are_alike(one, other, row.slack)) continue;
    ConditionDifference& difference = found.emplace_back();
    difference = {row.name, words_of(one), words_of(other), false, ""};
    difference.sentence = fmt::format("{}: {} before, {} now", row.name, difference.before, difference.after);
  }
  return found;
}

}  // namespace zerotax
