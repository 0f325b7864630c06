#include "check/document.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "base/fields.h"
#include "check/review_draft.h"
#include "files/document.h"
#include "os/environment.h"
#include "point/point_document.h"
#include "point/typed_point.h"

namespace zerotax::check {

void to_json(Json& json, const BaselineThreshold& threshold) {
  json = {{"at_bytes", threshold.at_bytes}, {"changes", threshold.changes}, {"directions", Json::array()}};
  for (const BehaviourChange& change : threshold.changes) json["directions"].push_back(change.direction);
  if (any_fails(threshold.changes)) json["fails"] = true;
}
void from_json(const Json& json, BaselineThreshold& threshold) {
  threshold = {json.at("at_bytes"), json.at("changes")};
  // A baseline of version 0.2 has the words alone.
  const auto directions = json.find("directions");
  if (directions == json.end()) return;
  if (directions->size() != threshold.changes.size()) {
    throw std::invalid_argument(
        fmt::format("/thresholds: at {} bytes, as many directions as changes are needed", threshold.at_bytes));
  }
  for (std::size_t i = 0; i < threshold.changes.size(); ++i) {
    directions->at(i).get_to(threshold.changes[i].direction);
    threshold.changes[i].fails = json.value("fails", false);
  }
}
ZEROTAX_FIELDS(UncertainThreshold, from_bytes, to_bytes, changes, seen, looks)
ZEROTAX_FIELDS_WRITTEN(ReviewRange, from_bytes, to_bytes, from_exact, to_exact)

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void to_json(Json& json, const ReviewThreshold& threshold) {
  json = {{"before_bytes", or_null(threshold.before_bytes)}, {"after_bytes", or_null(threshold.after_bytes)}};
}

void to_json(Json& json, const PointIdentity& point) {
  json = {{"case", point.case_name}, {"size_bytes", point.size_bytes}, {"touch", point.touch}};
  json["thread"] = point.thread;
}

void from_json(const Json& json, PointIdentity& point) {
  point = {json.at("case"), json.at("size_bytes"), json.at("touch"), json.at("thread")};
}

void to_json(Json& json, const SeenRange& range) {
  json = range.point;
  json["call"] = range.call;
  json["metric"] = dotted_key(row_of(range.metric));
  json["runs"] = range.runs;
  if (row_of(range.metric).kind == MetricKind::kWord) {
    json["words"] = range.words;
  } else if (row_of(range.metric).kind == MetricKind::kSystemCalls) {
    json["calls"] = range.calls;
  } else {
    json.update(range.number);
  }
}

namespace {

/// The word of a baseline for ClockMode::kStopped.
constexpr const char* kStopped = "stopped";

Json steady_json(const Point& point) {
  Json json{{"status", word_of(point.status)}};
  for (const Metric metric : kSteadyMetrics) add_value(point, row_of(metric), json);
  return json;
}

Json point_to_json(const Point& point) {
  Json json = identity_of(point);
  json.update(steady_json(point));
  json["first_ops"] = Json::array();
  for (const FirstOperation& operation : point.first_ops) {
    Json& entry = json["first_ops"].emplace_back(Json::object());
    for (const Metric metric : kEarlyMetrics) add_value(operation, row_of(metric), entry);
  }
  return json;
}

SeenRange range_from_json(const Json& json) {
  SeenRange range;
  json.get_to(range.point);
  json.at("call").get_to(range.call);
  const auto metric = metric_of_key(json.at("metric").get<std::string>());
  if (!metric) throw std::invalid_argument(": unknown metric " + json_line(json.at("metric")));
  range.metric = *metric;
  json.at("runs").get_to(range.runs);
  if (json.contains("low")) json.get_to(range.number);
  range.words = json.value("words", std::vector<std::string>());
  range.calls = json.value("calls", std::map<std::string, Range>());
  return range;
}

std::vector<SeenRange> ranges_from_json(const Json& json) {
  std::vector<SeenRange> ranges;
  for (const Json& each : json) {
    try {
      ranges.push_back(range_from_json(each));
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(fmt::format("/ranges/{}{}", ranges.size(), problem.what()));
    }
  }
  return ranges;
}

std::vector<Point> points_from_json(const Json& json, std::uint64_t page) {
  std::vector<Point> points;
  for (const Json& each : json) {
    const std::string place = fmt::format("/points/{}", points.size());
    try {
      const Point& point = points.emplace_back(point_from_json(each, page));
      if (const std::string problem = contradiction_in(point); !problem.empty()) throw std::invalid_argument(problem);
      for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        if (identity_of(points[i]) != identity_of(point)) continue;
        throw std::invalid_argument(": the point " + key_of(point).substr(1) + " occurs twice");
      }
    } catch (const std::invalid_argument& problem) {
      throw std::invalid_argument(place + problem.what());
    }
  }
  return points;
}

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
Json points_json(const CheckResult& result) {
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

Json result_json(const CheckResult& result) {
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

Json to_json(const Baseline& baseline) {
  Json json{{"schema", "zerotax.baseline/1"},
            {"allocator", baseline.allocator},
            {"version", baseline.version},
            {"env", baseline.env},
            {"measured_on", baseline.measured_on}};
  if (baseline.clock == ClockMode::kStopped) json["conditions"] = {{"clock", kStopped}};
  json["points"] = Json::array();
  for (const Point& point : baseline.points) json["points"].push_back(point_to_json(point));
  write_field(json, "thresholds", baseline.thresholds);
  if (!baseline.uncertain.empty()) json["uncertain_thresholds"] = baseline.uncertain;
  if (!baseline.ranges.empty()) json["ranges"] = baseline.ranges;
  write_field(json, "by_the_clock", baseline.by_the_clock);
  return json;
}

Baseline baseline_from_json(const Json& json) {
  Baseline baseline;
  read_field(json, "allocator", baseline.allocator);
  read_field(json, "version", baseline.version);
  read_field(json, "env", baseline.env);
  read_field(json, "measured_on", baseline.measured_on);
  if (const auto found = json.find("conditions"); found != json.end()) {
    baseline.clock = text_field(*found, "clock", "") == kStopped ? ClockMode::kStopped : ClockMode::kReal;
  }
  baseline.points = points_from_json(json.at("points"), page_bytes_of(baseline.measured_on));
  read_field(json, "thresholds", baseline.thresholds);
  baseline.uncertain = json.value("uncertain_thresholds", std::vector<UncertainThreshold>());
  baseline.ranges = ranges_from_json(json.value("ranges", Json::array()));
  read_field(json, "by_the_clock", baseline.by_the_clock);
  return baseline;
}

Json conditions_of(const Environment& environment) {
  return {{"kernel", environment.kernel},
          {"cpu", environment.cpu},
          {"thp", environment.thp},
          {"cpus", environment.cpus},
          {"page_bytes", environment.page_bytes},
          {"libc", environment.libc},
          {"pagemap_scan", environment.pagemap_scan},
          {"zerotax", ZEROTAX_VERSION}};
}

Json check_json(const Check& check) {
  Json json{{"schema", "zerotax.check/1"},
            {"zerotax_version", ZEROTAX_VERSION},
            {"verdict", word_of(check.verdict)},
            {"sentence", check.sentence},
            {"strict", check.strict},
            {"passed", check.passed},
            {"checks", Json::array()}};
  for (const CheckResult& result : check.checks) json["checks"].push_back(result_json(result));
  return json;
}

Baseline read_baseline(const std::string& path) {
  constexpr const char* kRemedy = "make a new one with `zerotax bless`";
  const Json json = read_document(path, "baseline", kRemedy);
  try {
    return baseline_from_json(json);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(fmt::format("{} is damaged: {}", path, problem.what()), kRemedy);
  }
}

}  // namespace zerotax::check
