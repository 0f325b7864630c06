#include "judge/rule.h"

#include <algorithm>
#include <string_view>

namespace zerotax {
namespace {

std::vector<const FindingRule*>& registered() {
  static std::vector<const FindingRule*> rules;
  return rules;
}

}  // namespace

FindingRule::FindingRule(const char* name, const char* meaning, ShownIn shown_in, Find function)
    : name_(name), meaning_(meaning), shown_in_(shown_in), find_(function) {
  auto& rules = registered();
  const auto after =
      std::upper_bound(rules.begin(), rules.end(), std::string_view(name),
                       [](std::string_view one, const FindingRule* other) { return one < other->name(); });
  rules.insert(after, this);
}

const std::vector<const FindingRule*>& FindingRule::all() { return registered(); }

std::string meaning_of(const Finding& finding) {
  for (const FindingRule* rule : FindingRule::all()) {
    if (finding.rule == rule->name()) return rule->meaning();
  }
  return finding.rule;
}

}  // namespace zerotax
