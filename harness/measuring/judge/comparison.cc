#include "judge/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/lines.h"
#include "base/units.h"

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

const char* heading_of(Direction direction) { return direction == Direction::kNeither ? "changed" : word(direction); }

Direction opposite_of(Direction direction) {
  constexpr Direction kOpposites[] = {Direction::kBetter, Direction::kWorse, Direction::kNeither};
  return kOpposites[static_cast<std::size_t>(direction)];
}

Verdict joined_verdict(bool failed, bool worse, bool better, bool changed) {
  if (failed) return Verdict::kFailed;
  if (worse) return better ? Verdict::kMixed : Verdict::kWorse;
  if (better) return Verdict::kBetter;
  return changed ? Verdict::kChanged : Verdict::kSame;
}

bool passes(Verdict verdict, bool strict) {
  return verdict == Verdict::kSame || (verdict == Verdict::kBetter && !strict);
}

void Range::check_fields() const {
  if (high < low) throw std::invalid_argument(fmt::format(": the high end {} is below the low one {}", high, low));
}

std::string not_compared_text(const std::vector<NotCompared>& all, bool explain) {
  constexpr std::size_t kLongReason = 45;
  std::string text;
  std::vector<std::pair<const NotCompared*, std::size_t>> reasons;
  for (const NotCompared& each : all) {
    const std::string line = fmt::format("not compared, {}: {}", each.why, each.name);
    // A name is kept on one line; a long reason is wrapped.
    if (explain) text += each.why.size() < kLongReason ? "  " + line + "\n" : wrap(line, "  ", "    ");
    const auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first->why == each.why; });
    if (found == reasons.end()) {
      reasons.emplace_back(&each, 1);
    } else {
      ++found->second;
    }
  }
  if (explain) return text;
  for (const auto& [first, count] : reasons) {
    const std::string what = count == 1 ? first->name : format_counted(count, "metric") + "; --explain lists them";
    text += wrap(fmt::format("not compared ({}): {}", first->why, what), "  ", "    ");
  }
  return text;
}

std::string accept_note(const std::string& command) { return "If this is intended, accept it with: " + command; }

std::string accept_text(Verdict verdict, const std::string& command) {
  if (verdict == Verdict::kSame) return "";
  if (verdict != Verdict::kBetter) return accept_note(command) + "\n";
  return fmt::format("Keep the improvement as the new baseline with: {}\n", command);
}

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
