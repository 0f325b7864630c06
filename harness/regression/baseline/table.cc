#include "baseline/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/lines.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/table.h"
#include "base/units.h"
#include "baseline/lasting_changes.h"
#include "point/metrics.h"

namespace zerotax::baseline {
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

std::string conditions_text(const AllocatorCheck& result, bool explain) {
  std::string text;
  const bool changed = result.verdict != Verdict::kSame;
  for (const ConditionDifference& each : result.conditions) {
    if (explain || (changed && each.may_explain)) {
      text += line("The baseline was measured elsewhere: " + each.sentence);
    }
  }
  return result.load.busy ? text + line(result.load.sentence) : text;
}

std::string ranges_text(const Baseline& baseline) {
  std::map<Metric, std::vector<const SeenRange*>> ranges;
  std::uint64_t runs = 0;
  for (const SeenRange& range : baseline.ranges) {
    ranges[range.metric].push_back(&range);
    runs = std::max(runs, range.runs);
  }
  std::string text;
  for (const auto& [metric, all] : ranges) {
    const SeenRange& first = *all.front();
    const std::string example = fmt::format("{}: {}", name_of(first), words_of(first));
    text += all.size() == 1
                ? fmt::format("    {}\n", example)
                : fmt::format("    {}, {}, as {}\n", row_of(metric).key, format_counted(all.size(), "value"), example);
  }
  if (text.empty()) return "";
  return fmt::format("  not the same each time: the baseline keeps the range that up to {} runs saw of\n{}", runs,
                     text);
}

/// Returns the values that cannot be compared, because the baseline lacks them.
std::string left_out_text(const Baseline& baseline) {
  std::string text;
  for (const Point& point : baseline.points) {
    for (const Slot& slot : slots_of(point)) {
      const std::string why = value_at(point, slot)->why_not();
      const bool is_left_out = (why == kByAClock || why == kNotTheSame) && range_of(baseline, slot) == nullptr;
      if (!is_left_out) continue;
      text += fmt::format("  left out, {}: {}\n", why, name_of(slot));
    }
  }
  return text;
}

constexpr std::size_t kPlaces = 5;

}  // namespace

bool is_shown(const ProgramChange& change, const ProgramCheck& check) {
  return change.direction != Direction::kNeither || check.verdict == Verdict::kChanged;
}

std::string calls_words(const SiteChange& site) {
  return fmt::format("{} → {}", format_count(site.before[runs::SiteNumber::kCalls]),
                     format_count(site.after[runs::SiteNumber::kCalls]));
}

std::string bytes_words(const SiteChange& site) {
  constexpr const char* kWords[] = {"", "requested", "by kernel", "refilled", "returned", "zeroed", "live"};
  const runs::SiteNumber most = most_different(site);
  return fmt::format("{}: {} → {}", kWords[static_cast<std::size_t>(most)], format_size(site.before[most]),
                     format_size(site.after[most]));
}

std::string explain_command(std::vector<std::string> command) {
  command.front() = "zerotax";
  command.insert(std::find(command.begin(), command.end(), "--"), "--explain");
  return shell_text(command);
}

std::string accept_command(const AllocatorChecks& check) {
  const auto changed = std::find_if(check.checks.begin(), check.checks.end(),
                                    [](const AllocatorCheck& each) { return each.verdict != Verdict::kSame; });
  return changed == check.checks.end() ? "" : changed->accept;
}

std::string check_text(const AllocatorChecks& check, bool explain, const Palette& palette) {
  std::string text = check.sentence + "\n";
  for (const AllocatorCheck& result : check.checks) {
    const std::string label = name_and_version(result.allocator);
    if (check.checks.size() > 1) text += fmt::format("\n{}: {}\n", label, result.sentence);
    text += fmt::format("  {}, compared with {}\n", label, result.baseline_path);
    for (const std::string& note : result.notes) text += line(note);
    text += groups_text(result.review, explain, palette);
    for (const std::string& each : result.accepted_failures) {
      text += fmt::format("  a failure that the baseline accepts: {}\n", each);
    }
    text += not_compared_text(result.not_compared, explain) + conditions_text(result, explain) +
            accept_text(result.verdict, result.accept);
  }
  return text;
}

std::string unsteady_text(const Baseline& baseline) {
  std::string text = ranges_text(baseline) + left_out_text(baseline);
  for (const UncertainThreshold& each : baseline.uncertain) {
    text += fmt::format("  uncertain, seen in {} of {} probes: {}\n", each.seen, each.looks, name_of(each));
  }
  return text;
}

std::string changes_text(const ProgramCheck& check, bool explain, const Palette& palette) {
  Table table({{"  ", Unit::kText, 9}, {"metric"}, right_text("before", 0, 2), right_text("now", 0, 2)});
  for (const ProgramChange& change : check.changes) {
    if (!explain && !is_shown(change, check)) continue;
    const runs::MetricRow& row = row_of(change.metric);
    table.add({fmt::format("  {}", heading_of(change.direction)), name_of(row, change.process),
               format_range(row.unit, change.before), format_value(row.unit, change.after)});
  }
  if (table.empty()) return "";
  std::string text = table.text();
  text = palette.first_in(text, Tone::kWorse, "worse");
  return palette.first_in(text, Tone::kBetter, "better");
}

std::string sites_text(const ProgramCheck& check, bool explain) {
  if (check.changes.empty() || check.sites.empty()) return "";
  Table table({{"  where", Unit::kText}, right_text("calls", 0, 2), right_text("bytes", 0, 2)});
  std::size_t shown = 0;
  for (const SiteChange& site : check.sites) {
    if (!explain && shown == kPlaces) break;
    ++shown;
    table.add({"  " + one_line(place_words(site)), calls_words(site), bytes_words(site)});
  }
  std::string text = table.text();
  if (shown < check.sites.size()) {
    text += line(fmt::format("{} more; --explain lists them", format_counted(check.sites.size() - shown, "place")));
  }
  return text;
}

std::string advice_text(const ProgramCheck& check) { return check.advice.empty() ? "" : line(check.advice); }

std::string check_text(const ProgramCheck& check, bool explain, const Palette& palette) {
  const bool changed = check.verdict != Verdict::kSame;
  std::string text = printable(check.sentence) + "\n";
  text += fmt::format("  {}, compared with {} runs in {}\n", printable(check.subject.name), check.baseline.runs,
                      printable(check.baseline.path));
  text += changes_text(check, explain, palette) + sites_text(check, explain) +
          not_compared_text(check.not_compared, explain);
  text += advice_text(check);
  if (changed || explain) {
    for (const ConditionDifference& each : check.conditions) {
      text += line("The baseline was measured elsewhere: " + each.sentence + ".");
    }
  }
  for (const std::string& note : check.measured.notes) text += line(note);
  return text + accept_text(check.verdict, check.accept);
}

std::string check_text(const ProgramChecks& all, bool explain, const Palette& palette) {
  std::string text = wrap(all.sentence, "", "  ");
  for (const ProgramCheck& check : all.checks) {
    if (explain || check.verdict != Verdict::kSame) text += "\n" + check_text(check, explain, palette);
  }
  return text;
}

std::string bless_text(const Program& program, const std::vector<std::string>& notes, const std::string& path) {
  std::string text =
      fmt::format("{}: {}, {}\n", printable(program.name), printable(path), format_counted(program.runs, "run"));
  std::map<std::string, std::string> not_known;
  for (const runs::MetricRow& row : runs::metric_rows()) {
    const Measured<Range>& range = program.metrics[row.metric];
    if (is_empty(range)) continue;
    if (!range) {
      std::string& names = not_known[range.why()];
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    } else if (range->width() > least_slack(row.unit, *range)) {
      text += line(fmt::format("not the same each time: {}: {}", row.name, format_range(row.unit, *range)));
    }
  }
  for (const auto& [why, names] : not_known) text += line(fmt::format("not compared: {} ({})", names, why));
  for (const std::string& note : notes) text += line(note);
  return text;
}

std::string command_text(const runs::Command& command) {
  std::vector<std::string> words;
  for (const auto& [key, value] : command.env) words.push_back(fmt::format("{}={}", key, value));
  words.insert(words.end(), command.command.begin(), command.command.end());
  return shell_text(words);
}

}  // namespace zerotax::baseline
