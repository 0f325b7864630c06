#include "check/outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/metrics.h"

namespace zerotax::check {
namespace {

using exchange::Benchmark;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

OutcomeKind kind_of(const ReviewGroup& group) {
  if (group.direction == Direction::kBetter) return OutcomeKind::kBetter;
  if (group.direction == Direction::kNeither) return OutcomeKind::kChanged;
  const bool broken =
      group.cause == Cause::kFails || group.cause == Cause::kNotZero || group.cause == Cause::kMisaligned;
  return broken ? OutcomeKind::kFailed : OutcomeKind::kWorse;
}

/// Of the word of a whole check. What is better here and worse there is worse, as its exit status is.
OutcomeKind kind_of(const std::string& verdict) {
  for (const OutcomeKind kind :
       {OutcomeKind::kSame, OutcomeKind::kBetter, OutcomeKind::kChanged, OutcomeKind::kFailed}) {
    if (verdict == exchange::word_of(kind)) return kind;
  }
  return OutcomeKind::kWorse;
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
  outcome.name = group_name(group);
  outcome.label = group.title;
  outcome.kind = kind_of(group);
  outcome.fails = strict || group.direction != Direction::kBetter;
  outcome.verdict = exchange::word_of(outcome.kind);
  outcome.headline = group.sentence;
  for (const std::size_t at : group.changes) outcome.details += result.review.changes[at].line + "\n";
  outcome.file = result.baseline_path;
  return outcome;
}

Outcome passed(const CheckResult& result) {
  Outcome outcome;
  outcome.suite = result.allocator.name;
  outcome.name = "as in the baseline";
  outcome.verdict = exchange::word_of(OutcomeKind::kSame);
  outcome.headline = result.review.sentence;
  outcome.file = result.baseline_path;
  return outcome;
}

/// "zeroed_bytes" as a slug.
std::string slug_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// What a review knows of a metric of a point that is not as in the baseline: its value now, or null.
using Known = std::map<std::string, Json>;

std::string place_of(const PointIdentity& point, Metric metric) {
  return fmt::format("{}/{}/{:g}/{}, {}", point.case_name, point.size_bytes, point.touch, point.thread,
                     row_of(metric).key);
}

Known known_values(const CheckResult& result) {
  Known known;
  for (const BaselineChange& change : result.review.changes) {
    if (!change.point || change.call != 0) continue;
    if (change.kind == ChangeKind::kMetric && change.metric)
      known[place_of(*change.point, *change.metric)] = change.after;
    if (change.kind == ChangeKind::kMetric) continue;
    // Of a point that does not end well, or is not there, nothing is known.
    for (const Metric metric : kSteadyMetrics) known[place_of(*change.point, metric)] = nullptr;
  }
  return known;
}

/// What each point does now: as in the baseline, but for what changed, and for what was not compared.
void add_benchmarks(const CheckResult& result, OutcomeList& list) {
  const Known known = known_values(result);
  const auto compared = [&](const std::string& name) {
    return std::none_of(result.not_compared.begin(), result.not_compared.end(),
                        [&](const NotCompared& each) { return each.name == name; });
  };
  for (const Point& point : result.baseline.points) {
    const PointIdentity identity = identity_of(point);
    Benchmark& benchmark = list.benchmarks.emplace_back();
    benchmark.name = fmt::format("{}/{}/{}/{:g}/{}", result.allocator.name, identity.case_name, identity.size_bytes,
                                 identity.touch, identity.thread);
    for (const Metric metric : kSteadyMetrics) {
      const auto changed = known.find(place_of(identity, metric));
      const auto before = point.count(metric);
      const std::string slug = slug_of(row_of(metric).key);
      if (changed != known.end()) {
        if (changed->second.is_number()) benchmark.measures.push_back({slug, changed->second.get<double>()});
      } else if (before && compared(fmt::format("{}, {}", name_of(point), row_of(metric).key))) {
        benchmark.measures.push_back({slug, static_cast<double>(*before)});
      }
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
  if (!result.review.changes.empty()) list.notes.push_back("If this is intended, accept it with: " + result.accept);
}

}  // namespace

OutcomeList check_outcomes(const std::vector<CheckResult>& results, const Json& document, bool strict) {
  OutcomeList list;
  list.command = "zerotax check";
  list.sentence = document.at("sentence");
  list.verdict = document.at("verdict");
  list.kind = kind_of(list.verdict);
  list.thing = "change";
  for (const CheckResult& result : results) {
    list.subject += fmt::format("{}{} against {}", list.subject.empty() ? "" : "; ", name_and_version(result.allocator),
                                result.baseline_path);
    for (const ReviewGroup& group : result.review.groups) {
      list.outcomes.push_back(outcome_of(result, group, strict));
    }
    if (result.review.groups.empty()) list.outcomes.push_back(passed(result));
    add_benchmarks(result, list);
    add_notes(result, list);
  }
  return list;
}

}  // namespace zerotax::check
