#include "base/fields.h"
#include "baseline/document.h"
#include "point/metric_json.h"
#include "point/point_health.h"
#include "record/document.h"
#include "record/runs/document.h"

namespace zerotax::baseline {

ZEROTAX_FIELDS_WRITTEN(ReviewRange, from_bytes, to_bytes, from_exact, to_exact)

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void to_json(Json& json, const ReviewThreshold& threshold) {
  json = {{"before_bytes", or_null(threshold.before_bytes)}, {"after_bytes", or_null(threshold.after_bytes)}};
}

namespace {

/// A value that is absent is null.
Json value_or_null(const MetricValue& value) { return value.is_absent() ? Json() : to_json(value); }

const char* kind_word(ChangeKind kind) {
  constexpr const char* kWords[] = {"status", "metric", "not_measured", "threshold"};
  return kWords[static_cast<std::size_t>(kind)];
}

Json change_json(const BaselineChange& change) {
  const bool of_threshold = change.kind == ChangeKind::kThreshold;
  Json json{{"name", change.name}, {"line", change.line}, {"kind", kind_word(change.kind)}};
  json["point"] = or_null(change.point);
  json["at_bytes"] = of_threshold ? Json(change.at_bytes) : Json();
  json["metric"] = change.metric ? Json(dotted_key(row_of(*change.metric))) : Json();
  json["call"] = change.call;
  json["before"] = of_threshold ? or_null(change.threshold.before) : value_or_null(change.before);
  json["after"] = of_threshold ? or_null(change.threshold.after) : value_or_null(change.after);
  json["direction"] = word_of(direction_of(change));
  write_field(json, "range", change.range);
  return json;
}

Json example_json(const ReviewExample& example) {
  return {{"point", example.point},
          {"metric", example.metric ? row_of(*example.metric).key : "status"},
          {"call", example.call},
          {"before", value_or_null(example.before)},
          {"after", value_or_null(example.after)},
          {"words", example.words}};
}

Json group_json(const ReviewGroup& group) {
  return {{"cause", word_of(group.cause)},
          {"direction", word_of(group.direction)},
          {"title", group.title},
          {"sentence", group.sentence},
          {"first_calls_only", group.first_calls_only},
          {"thread", group.thread.empty() ? Json() : Json(group.thread)},
          {"touch", or_null(group.touch)},
          {"cases", group.cases},
          {"ranges", group.ranges},
          {"thresholds", group.thresholds},
          {"example", group.example ? example_json(*group.example) : Json()},
          {"changes", group.changes}};
}

/// Every point that was compared, what did not change as well: before and after belong on one chart.
Json points_json(const AllocatorCheck& result) {
  Json points = Json::array();
  for (const Point& before : result.baseline.points) {
    const PointIdentity point = identity_of(before);
    const Point* after = point_of(result.measured, point);
    Json& json = points.emplace_back(point);
    json["verdict"] = way_of(result.review, point);
    json["before"] = steady_json(before);
    json["after"] = after == nullptr ? not_available("not measured") : steady_json(*after);
  }
  return points;
}

Json result_json(const AllocatorCheck& result) {
  const Baseline& baseline = result.baseline;
  const Review& review = result.review;
  Json groups = Json::array();
  for (const ReviewGroup& group : review.groups) groups.push_back(group_json(group));
  Json changes = Json::array();
  for (const BaselineChange& change : review.changes) changes.push_back(change_json(change));
  return {{"allocator", allocator_json(result.allocator)},
          {"label", name_and_version(result.allocator)},
          {"baseline",
           {{"file", result.baseline_path},
            {"allocator", baseline.allocator},
            {"version", baseline.version},
            {"env", baseline.env},
            {"measured_on", baseline.measured_on}}},
          {"measured_on", result.measured_on},
          {"verdict", word_of(result.verdict)},
          {"sentence", result.sentence},
          {"groups", groups},
          {"changes", changes},
          {"points", points_json(result)},
          {"not_compared", result.not_compared},
          {"accepted_failures", result.accepted_failures},
          {"conditions", result.conditions},
          {"load", result.load},
          {"notes", result.notes},
          {"accept", result.accept}};
}

}  // namespace

Json check_json(const AllocatorChecks& check) {
  Json json{{"schema", "zerotax.check/1"},
            {"zerotax_version", ZEROTAX_VERSION},
            {"verdict", word_of(check.verdict)},
            {"sentence", check.sentence},
            {"strict", check.strict},
            {"passed", check.passed},
            {"checks", Json::array()}};
  for (const AllocatorCheck& result : check.checks) json["checks"].push_back(result_json(result));
  return json;
}

void to_json(Json& json, const ProgramChange& value) {
  json["process"] = value.process.empty() ? Json() : Json(value.process);
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, metric, direction, before, after))
  json["line"] = words_of(value);
}

void to_json(Json& json, const SiteChange& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, kind, place, called_by, before, after))
  json["line"] = place_words(value);
}

Json check_json(const ProgramCheck& value) {
  Json json{{"schema", "zerotax.program_check/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, verdict, sentence, strict, passed, runs, measured_on,
                                           changes, sites, not_compared))
  json["conditions"] = Json::array();
  for (const ConditionDifference& each : value.conditions) json["conditions"].push_back(each.sentence);
  json["accept"] = value.accept;
  if (!value.advice.empty()) json["advice"] = value.advice;
  json["name"] = value.subject.name;
  json["command"] = value.subject.command;
  json["env"] = value.subject.env;
  json["baseline"] = {{"file", value.baseline_path},
                      {"runs", value.baseline.runs},
                      {"measured_on", value.baseline.measured_on},
                      {"metrics", value.baseline.metrics}};
  json["metrics"] = value.measured.all;
  json["processes"] = value.measured.processes;
  json["notes"] = value.measured.notes;
  for (const runs::MetricRow& row : runs::metric_rows()) json["words"][row.key] = row.name;
  return json;
}

Json check_json(const ProgramChecks& value) {
  Json json{{"schema", "zerotax.program_checks/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, verdict, sentence, passed))
  for (const ProgramCheck& check : value.checks) json["checks"].push_back(check_json(check));
  return json;
}

}  // namespace zerotax::baseline
