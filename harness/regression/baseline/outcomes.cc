#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "baseline/table.h"
#include "cli/exchange_options.h"
#include "point/metrics.h"

namespace zerotax::baseline {
namespace {

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

OutcomeKind kind_of(const ReviewGroup& group) {
  const bool failed = group.direction == Direction::kWorse && is_failure(group.cause);
  return failed ? OutcomeKind::kFailed : kind_of(group.direction);
}

/// Returns the name of a group, made of its cause and scope. The name is unique within a review, and stays the same in
/// later reviews.
std::string group_name(const ReviewGroup& group) {
  std::string name = word(group.cause);
  if (group.direction == Direction::kBetter) name += ", better";
  if (group.first_calls_only) name += ", first calls";
  if (!group.thread.empty()) name += ", " + group.thread;
  if (group.touch) name += fmt::format(", touch {:g}", *group.touch);
  return name;
}

Outcome outcome_of(const AllocatorCheck& result, const ReviewGroup& group, bool strict) {
  Outcome outcome;
  outcome.suite = result.allocator.name;
  outcome.file = result.baseline_path;
  outcome.name = group_name(group);
  outcome.test = word(group.cause);
  outcome.label = group.title;
  outcome.kind = kind_of(group);
  outcome.fails = strict || group.direction != Direction::kBetter;
  outcome.verdict = word(outcome.kind);
  outcome.headline = group.sentence;
  for (const std::size_t at : group.changes) outcome.details += result.review.changes[at].line + "\n";
  return outcome;
}

/// Adds the outcomes of a check. Each cause is a test, even if it has no changes.
void add_outcomes(const AllocatorCheck& result, bool strict, OutcomeList& list) {
  for (const ReviewGroup& group : result.review.groups) list.outcomes.push_back(outcome_of(result, group, strict));
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Cause::kNotMeasured); ++i) {
    const auto cause = static_cast<Cause>(i);
    const auto& groups = result.review.groups;
    if (std::any_of(groups.begin(), groups.end(), [&](const ReviewGroup& each) { return each.cause == cause; }))
      continue;
    Outcome& passed = list.outcomes.emplace_back();
    passed.suite = result.allocator.name;
    passed.name = word(cause);
    passed.verdict = word(passed.kind);
    passed.headline = "as in the baseline";
  }
}

/// New values of the metrics that differ from the baseline, by the names that a review uses. A value that is not a
/// number is absent.
using Known = std::map<std::string, std::optional<double>>;

Known known_values(const AllocatorCheck& result) {
  Known known;
  for (const BaselineChange& change : result.review.changes) {
    if (!change.point || change.call != 0) continue;
    if (change.kind == ChangeKind::kMetric) {
      known[change.name] = change.after.number();
      continue;
    }
    // The metrics of a point that fails or is missing are unknown.
    for (const Metric metric : kSteadyMetrics) known[name_of(Slot{*change.point, 0, metric})] = std::nullopt;
  }
  return known;
}

/// Adds the metrics of each point: the new value if the metric changed, otherwise the value of the baseline. A metric
/// that was not compared is unknown.
void add_benchmarks(const AllocatorCheck& result, OutcomeList& list) {
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

void add_notes(const AllocatorCheck& result, OutcomeList& list) {
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

std::string test_name(const runs::MetricRow& row, const std::string& process) {
  return process.empty() ? row.key : fmt::format("{} of {}", row.key, process);
}

Outcome outcome_of(const ProgramCheck& check, const ProgramChange& change) {
  Outcome outcome;
  outcome.suite = check.subject.name;
  outcome.file = check.baseline.path;
  outcome.name = test_name(row_of(change.metric), change.process);
  outcome.label = words_of(change);
  outcome.kind = kind_of(change.direction);
  outcome.fails = !check.passed && (check.strict || change.direction != Direction::kBetter);
  outcome.verdict = word(outcome.kind);
  outcome.headline = words_of(change);
  return outcome;
}

/// Adds the unchanged metrics of the baseline. Each metric is a test.
void add_unchanged(const ProgramCheck& check, const std::string& process, const Ranges& ranges,
                   std::vector<Outcome>& outcomes) {
  for (const runs::MetricRow& row : runs::metric_rows()) {
    const std::string name = test_name(row, process);
    const auto is_named = [&](const Outcome& each) { return each.name == name; };
    if (!ranges[row.metric] || std::any_of(outcomes.begin(), outcomes.end(), is_named)) continue;
    Outcome& outcome = outcomes.emplace_back();
    outcome.suite = check.subject.name;
    outcome.name = name;
    const auto left_out = std::find_if(check.not_compared.begin(), check.not_compared.end(),
                                       [&](const auto& each) { return each.name == name_of(row, process); });
    const bool compared = left_out == check.not_compared.end();
    outcome.verdict = compared ? word(outcome.kind) : "not compared";
    outcome.headline = compared ? format_range(row.unit, *ranges[row.metric]) : left_out->why;
  }
}

Benchmark benchmark_of(const std::string& name, const runs::Values& values) {
  Benchmark benchmark{name, {}};
  for (const runs::MetricRow& row : runs::metric_rows()) {
    if (values[row.metric]) benchmark.measures.push_back({row.key, static_cast<double>(*values[row.metric])});
  }
  return benchmark;
}

}  // namespace

OutcomeList check_outcomes(const AllocatorChecks& check) {
  OutcomeList list;
  list.command = "zerotax check";
  list.sentence = check.sentence;
  list.verdict = word(check.verdict);
  list.kind = kind_of(check.verdict);
  list.thing = "change";
  for (const AllocatorCheck& result : check.checks) {
    list.subject += fmt::format("{}{} against {}", list.subject.empty() ? "" : "; ", name_and_version(result.allocator),
                                result.baseline_path);
    add_outcomes(result, check.strict, list);
    if (result.proof) list.outcomes.push_back(prove::prove_outcome(*result.proof));
    add_benchmarks(result, list);
    add_notes(result, list);
  }
  return list;
}

OutcomeList check_outcomes(const ProgramCheck& check) {
  OutcomeList list;
  list.command = "zerotax check";
  list.sentence = check.sentence;
  list.verdict = word(check.verdict);
  list.kind = kind_of(check.verdict);
  list.thing = "change";
  list.subject = fmt::format("{} against {}", check.subject.name, check.baseline.path);
  for (const ProgramChange& change : check.changes) list.outcomes.push_back(outcome_of(check, change));
  add_unchanged(check, "", check.baseline.metrics, list.outcomes);
  if (check.baseline.processes.size() > 1) {
    for (const auto& [name, ranges] : check.baseline.processes) add_unchanged(check, name, ranges, list.outcomes);
  }
  list.benchmarks.push_back(benchmark_of(check.subject.name, check.measured.all));
  if (check.measured.processes.size() > 1) {
    for (const auto& [name, values] : check.measured.processes) {
      list.benchmarks.push_back(benchmark_of(fmt::format("{}/{}", check.subject.name, name), values));
    }
  }
  if (check.changes.empty()) return list;
  for (const ConditionDifference& each : check.conditions) list.notes.push_back(each.sentence + ".");
  list.notes.push_back(accept_note(check.accept));
  return list;
}

OutcomeList check_outcomes(const ProgramChecks& all) {
  OutcomeList list;
  for (const ProgramCheck& check : all.checks) {
    OutcomeList one = check_outcomes(check);
    list.command = one.command;
    list.thing = one.thing;
    list.subject += (list.subject.empty() ? "" : ", ") + one.subject;
    std::move(one.outcomes.begin(), one.outcomes.end(), std::back_inserter(list.outcomes));
    std::move(one.benchmarks.begin(), one.benchmarks.end(), std::back_inserter(list.benchmarks));
    std::move(one.notes.begin(), one.notes.end(), std::back_inserter(list.notes));
  }
  list.sentence = all.sentence;
  list.verdict = word(all.verdict);
  list.kind = kind_of(all.verdict);
  return list;
}

}  // namespace zerotax::baseline
