#include "check/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/shell.h"
#include "base/units.h"
#include "base/wrap.h"
#include "check/document.h"
#include "check/lasting_changes.h"
#include "cli/exchange_options.h"
#include "point/metrics.h"

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

std::string conditions_text(const CheckResult& result, bool explain) {
  std::string text;
  const bool changed = result.verdict != Verdict::kSame;
  for (const ConditionDifference& each : result.conditions) {
    if (explain || (changed && each.may_explain)) {
      text += line("The baseline was measured elsewhere: " + each.sentence);
    }
  }
  return result.load.busy ? text + line(result.load.sentence) : text;
}

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

OutcomeKind kind_of(const ReviewGroup& group) {
  const bool failed = group.direction == Direction::kWorse && is_failure(group.cause);
  return failed ? OutcomeKind::kFailed : kind_of(group.direction);
}

/// The cause with what qualifies it: unique among the groups of a review, and the same in the next one.
std::string group_name(const ReviewGroup& group) {
  std::string name = word_of(group.cause);
  if (group.direction == Direction::kBetter) name += ", better";
  if (group.first_calls_only) name += ", first calls";
  if (!group.thread.empty()) name += ", " + group.thread;
  if (group.touch) name += fmt::format(", touch {:g}", *group.touch);
  return name;
}

Outcome outcome_of(const CheckResult& result, const ReviewGroup& group, bool strict) {
  Outcome outcome;
  outcome.suite = result.allocator.name;
  outcome.file = result.baseline_path;
  outcome.name = group_name(group);
  outcome.test = word_of(group.cause);
  outcome.label = group.title;
  outcome.kind = kind_of(group);
  outcome.fails = strict || group.direction != Direction::kBetter;
  outcome.verdict = exchange::word_of(outcome.kind);
  outcome.headline = group.sentence;
  for (const std::size_t at : group.changes) outcome.details += result.review.changes[at].line + "\n";
  return outcome;
}

/// The outcomes of a check: each cause is a test, even without changes.
void add_outcomes(const CheckResult& result, bool strict, OutcomeList& list) {
  for (const ReviewGroup& group : result.review.groups) list.outcomes.push_back(outcome_of(result, group, strict));
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Cause::kNotMeasured); ++i) {
    const auto cause = static_cast<Cause>(i);
    const auto& groups = result.review.groups;
    if (std::any_of(groups.begin(), groups.end(), [&](const ReviewGroup& each) { return each.cause == cause; }))
      continue;
    Outcome& passed = list.outcomes.emplace_back();
    passed.suite = result.allocator.name;
    passed.name = word_of(cause);
    passed.verdict = exchange::word_of(passed.kind);
    passed.headline = "as in the baseline";
  }
}

/// The metrics of points that are not as in the baseline, by their names, as a review knows them: the value now, if it
/// is a number.
using Known = std::map<std::string, std::optional<double>>;

Known known_values(const CheckResult& result) {
  Known known;
  for (const BaselineChange& change : result.review.changes) {
    if (!change.point || change.call != 0) continue;
    if (change.kind == ChangeKind::kMetric) {
      known[change.name] = change.after.number();
      continue;
    }
    // Nothing is known of a point that does not end well, or is missing.
    for (const Metric metric : kSteadyMetrics) known[name_of(Slot{*change.point, 0, metric})] = std::nullopt;
  }
  return known;
}

/// What each point does now: as in the baseline, but for what changed, and for what was not compared.
void add_benchmarks(const CheckResult& result, OutcomeList& list) {
  Known known = known_values(result);
  for (const NotCompared& each : result.not_compared) known.emplace(each.name, std::nullopt);
  for (const Point& point : result.baseline.points) {
    Benchmark& benchmark = list.benchmarks.emplace_back();
    benchmark.name = fmt::format("{}/{}/{}/{:g}/{}", result.allocator.name, point.case_name, point.size_bytes,
                                 point.touch, point.thread);
    for (const Metric metric : kSteadyMetrics) {
      const auto found = known.find(name_of(Slot{identity_of(point), 0, metric}));
      const auto value = found == known.end() ? point.number(metric) : found->second;
      if (value) benchmark.measures.push_back({row_of(metric).key, *value});
    }
  }
}

void add_notes(const CheckResult& result, OutcomeList& list) {
  for (const std::string& note : result.notes) list.notes.push_back(note);
  for (const ConditionDifference& each : result.conditions) {
    if (each.may_explain) list.notes.push_back(each.sentence);
  }
  for (const std::string& line : result.accepted_failures) {
    list.notes.push_back("A failure that the baseline accepts: " + line);
  }
  std::map<std::string, std::size_t> left_out;
  for (const NotCompared& each : result.not_compared) ++left_out[each.why];
  for (const auto& [why, count] : left_out) list.notes.push_back(fmt::format("Not compared, {}: {}", why, count));
  if (!result.review.changes.empty()) list.notes.push_back(accept_note(result.accept));
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

/// Values that the baseline lacks, so that nothing can be compared.
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

}  // namespace

std::string next_step(const Check& check, bool explain, std::vector<std::string> command) {
  for (const CheckResult& result : check.checks) {
    if (result.verdict == Verdict::kSame) continue;
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

OutcomeList check_outcomes(const Check& check) {
  OutcomeList list;
  list.command = "zerotax check";
  list.sentence = check.sentence;
  list.verdict = word_of(check.verdict);
  list.kind = kind_of(check.verdict);
  list.thing = "change";
  for (const CheckResult& result : check.checks) {
    list.subject += fmt::format("{}{} against {}", list.subject.empty() ? "" : "; ", name_and_version(result.allocator),
                                result.baseline_path);
    add_outcomes(result, check.strict, list);
    add_benchmarks(result, list);
    add_notes(result, list);
  }
  return list;
}

std::string unsteady_text(const Baseline& baseline) {
  std::string text = ranges_text(baseline) + left_out_text(baseline);
  for (const UncertainThreshold& each : baseline.uncertain) {
    text += fmt::format("  uncertain, seen in {} of {} looks: {}\n", each.seen, each.looks, name_of(each));
  }
  return text;
}

}  // namespace zerotax::check
