#include "check/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/shell.h"
#include "base/units.h"
#include "base/wrap.h"
#include "check/document.h"

namespace zerotax::check {
namespace {

std::string line(const std::string& text) { return wrap(text, "  ", "    "); }

std::string groups_text(const Review& review, bool explain, const Palette& palette) {
  std::string text;
  for (const ReviewGroup& group : review.groups) {
    const char* direction = heading_of(group.direction);
    const std::string lines =
        line(fmt::format("{}: {} ({})", direction, group.sentence, format_counted(group.changes.size(), "change")));
    const Tone tone = group.direction == Direction::kBetter ? Tone::kBetter : Tone::kWorse;
    text += group.direction == Direction::kNeither ? lines : palette.first_in(lines, tone, direction);
    if (!explain) continue;
    for (const std::size_t place : group.changes) text += fmt::format("    {}\n", review.changes[place].line);
  }
  return text;
}

/// How many were not compared for which reason; each of them with `explain`.
std::string not_compared_text(const std::vector<NotCompared>& all, bool explain) {
  std::string text;
  std::vector<std::pair<const NotCompared*, std::size_t>> reasons;
  for (const NotCompared& each : all) {
    if (explain) text += fmt::format("  not compared, {}: {}\n", each.why, each.name);
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
    text += line(fmt::format("not compared ({}): {}", first->why,
                             count == 1 ? first->name : format_counted(count, "metric") + "; --explain lists them"));
  }
  return text;
}

std::string conditions_text(const CheckResult& result, bool explain) {
  std::string text;
  const bool changed = result.review.verdict != Verdict::kSame;
  for (const ConditionDifference& each : result.conditions) {
    if (explain || (changed && each.may_explain)) {
      text += line("The baseline was measured elsewhere: " + each.sentence);
    }
  }
  return result.load.busy ? text + line(result.load.sentence) : text;
}

}  // namespace

std::string next_step(const Check& check, bool explain, std::vector<std::string> command) {
  for (const CheckResult& result : check.checks) {
    if (result.review.verdict == Verdict::kSame) continue;
    if (explain) return result.accept;
    command.front() = "zerotax";
    command.emplace_back("--explain");
    return shell_text(command);
  }
  return "";
}

std::string check_text(const Check& check, bool explain, const Palette& palette) {
  std::string text = check.sentence + "\n";
  for (const CheckResult& result : check.checks) {
    const std::string label = name_and_version(result.allocator);
    if (check.checks.size() > 1) text += fmt::format("\n{}: {}\n", label, result.review.sentence);
    text += fmt::format("  {}, compared with {}\n", label, result.baseline_path);
    for (const std::string& note : result.notes) text += line(note);
    text += groups_text(result.review, explain, palette);
    for (const std::string& each : result.accepted_failures) {
      text += fmt::format("  a failure that the baseline accepts: {}\n", each);
    }
    text += not_compared_text(result.not_compared, explain) + conditions_text(result, explain) +
            accept_text(result.review.verdict, result.accept);
  }
  return text;
}

}  // namespace zerotax::check
