#include <fmt/format.h>

#include <map>

#include "base/shell.h"
#include "base/units.h"
#include "base/wrap.h"
#include "check/check_document.h"

namespace zerotax::check {
namespace {

std::string word_at(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

std::string groups_text(const Json& check, bool explain, const Palette& palette) {
  std::string text;
  for (const Json& group : check.at("groups")) {
    const std::string direction = word_at(group, "direction");
    const std::string lines =
        wrap(fmt::format("{}: {} ({})", direction == "neither" ? "changed" : direction, word_at(group, "sentence"),
                         format_counted(group.at("changes").size(), "change")),
             "  ", "    ");
    text += direction == "neither"
                ? lines
                : palette.first_in(lines, direction == "better" ? Tone::kBetter : Tone::kWorse, direction);
    if (!explain) continue;
    for (const Json& place : group.at("changes")) {
      text += fmt::format("    {}\n", word_at(check.at("changes").at(place.get<std::size_t>()), "line"));
    }
  }
  return text;
}

/// How many were not compared for which reason; each of them with `explain`.
std::string not_compared_text(const Json& check, bool explain) {
  const Json& all = check.at("not_compared");
  std::string text;
  if (explain) {
    for (const Json& each : all)
      text += fmt::format("  not compared, {}: {}\n", word_at(each, "why"), word_at(each, "name"));
    return text;
  }
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const Json& each : all) {
    const std::string why = word_at(each, "why");
    auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == why; });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {why, 0});
    ++found->second;
  }
  for (const auto& [why, count] : reasons) {
    text += wrap(fmt::format("not compared ({}): {}", why,
                             count == 1 ? word_at(*std::find_if(all.begin(), all.end(),
                                                                [&, &reason = why](const Json& each) {
                                                                  return each.at("why") == reason;
                                                                }),
                                                  "name")
                                        : format_counted(count, "metric") + "; --explain lists them"),
                 "  ", "    ");
  }
  return text;
}

std::string conditions_text(const Json& check, bool explain) {
  std::string text;
  const bool changed = word_at(check, "verdict") != "same";
  for (const Json& each : check.at("conditions")) {
    if (!explain && !(changed && each.at("may_explain").get<bool>())) continue;
    text += wrap("The baseline was measured elsewhere: " + word_at(each, "sentence"), "  ", "    ");
  }
  const Json& load = check.at("load");
  if (load.is_object() && load.at("busy").get<bool>()) text += wrap(word_at(load, "sentence"), "  ", "    ");
  return text;
}

std::string accept_text(const Json& check) {
  const std::string verdict = word_at(check, "verdict");
  if (verdict == "same") return "";
  return fmt::format(
      "{}: {}\n",
      verdict == "better" ? "Keep the improvement as the new baseline with" : "If this is intended, accept it with",
      word_at(check, "accept"));
}

}  // namespace

std::string next_step(const Json& document, bool explain, std::vector<std::string> command) {
  for (const Json& check : document.at("checks")) {
    if (word_at(check, "verdict") == "same") continue;
    if (explain) return word_at(check, "accept");
    command.front() = "zerotax";
    command.emplace_back("--explain");
    return shell_text(command);
  }
  return "";
}

std::string check_text(const Json& document, bool explain, const Palette& palette) {
  const Json& checks = document.at("checks");
  std::string text = word_at(document, "sentence") + "\n";
  for (const Json& check : checks) {
    if (checks.size() > 1) text += fmt::format("\n{}: {}\n", word_at(check, "label"), word_at(check, "sentence"));
    text += fmt::format("  {}, held against {}\n", word_at(check, "label"), word_at(check.at("baseline"), "file"));
    for (const Json& note : check.at("notes")) text += wrap(note.get<std::string>(), "  ", "    ");
    text += groups_text(check, explain, palette);
    for (const Json& line : check.at("accepted_failures")) {
      text += fmt::format("  a failure that the baseline accepts: {}\n", line.get<std::string>());
    }
    text += not_compared_text(check, explain) + conditions_text(check, explain) + accept_text(check);
  }
  return text;
}

}  // namespace zerotax::check
