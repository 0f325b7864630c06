#include "baseline/check_document.h"

#include "baseline/document.h"
#include "point/point_document.h"
#include "point/typed_point.h"

namespace zerotax::baseline {
namespace {

/// Writes an absent value as null.
Json value_or_null(const MetricValue& value) { return value.is_absent() ? Json() : to_json(value); }
Json changes_or_null(const std::optional<BehaviourChanges>& changes) { return changes ? Json(*changes) : Json(); }

ChangeEntry entry_of(const BaselineChange& change) {
  const bool of_threshold = change.kind == ChangeKind::kThreshold;
  ChangeEntry entry{change.name, change.line, change.kind, change.point, {}, {}, change.call, {}, {}, {}, change.range};
  if (of_threshold) entry.at_bytes = change.at_bytes;
  if (change.metric) entry.metric = dotted_key(row_of(*change.metric));
  entry.before = of_threshold ? changes_or_null(change.threshold.before) : value_or_null(change.before);
  entry.after = of_threshold ? changes_or_null(change.threshold.after) : value_or_null(change.after);
  entry.direction = direction_of(change);
  return entry;
}

ExampleEntry entry_of(const ReviewExample& example) {
  return {example.point,
          example.metric ? row_of(*example.metric).key : "status",
          example.call,
          value_or_null(example.before),
          value_or_null(example.after),
          example.words};
}

GroupEntry entry_of(const ReviewGroup& group) {
  GroupEntry entry{group.cause,  group.direction, group.title, group.sentence, group.first_calls_only,
                   group.thread, group.touch,     group.cases, group.ranges,   group.thresholds,
                   {},           group.changes};
  if (group.example) entry.example = entry_of(*group.example);
  return entry;
}

/// Includes the unchanged points, so that a chart can show before and after together.
std::vector<ComparedPointEntry> points_of(const AllocatorCheck& result) {
  std::vector<ComparedPointEntry> points;
  for (const Point& before : result.baseline.points) {
    const PointIdentity point = identity_of(before);
    const Point* after = point_of(result.measured, point);
    ComparedPointEntry& entry = points.emplace_back(ComparedPointEntry{point, {}, {}, {}});
    entry.verdict = way_of(result.review, point);
    entry.before = steady_json(before);
    entry.after = after == nullptr ? not_available("not measured") : steady_json(*after);
  }
  return points;
}

CheckEntry entry_of(const AllocatorCheck& result) {
  const Baseline& baseline = result.baseline;
  CheckEntry entry;
  entry.allocator = allocator_json(result.allocator);
  entry.label = name_and_version(result.allocator);
  entry.baseline = {result.baseline_path, baseline.allocator, baseline.version, baseline.env, baseline.measured_on};
  entry.measured_on = result.measured_on;
  entry.verdict = result.verdict;
  entry.sentence = result.sentence;
  for (const ReviewGroup& group : result.review.groups) entry.groups.push_back(entry_of(group));
  for (const BaselineChange& change : result.review.changes) entry.changes.push_back(entry_of(change));
  entry.points = points_of(result);
  entry.not_compared = result.not_compared;
  entry.accepted_failures = result.accepted_failures;
  entry.conditions = result.conditions;
  entry.load = result.load;
  entry.notes = result.notes;
  entry.accept = result.accept;
  entry.proof = result.proof;
  return entry;
}

}  // namespace

CheckDocument check_document(const AllocatorChecks& checks) {
  CheckDocument document{checks.verdict, checks.sentence, checks.strict, checks.passed, {}};
  for (const AllocatorCheck& result : checks.checks) document.checks.push_back(entry_of(result));
  return document;
}

}  // namespace zerotax::baseline
