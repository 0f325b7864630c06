#include "check/check_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "check/review_causes.h"
#include "core/metric_json.h"

namespace zerotax::check {
namespace {

Json identity_json(const PointIdentity& point) {
  return Json{
      {"case", point.case_name}, {"size_bytes", point.size_bytes}, {"touch", point.touch}, {"thread", point.thread}};
}

const char* kind_word(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kStatus:
      return "status";
    case ChangeKind::kMetric:
      return "metric";
    case ChangeKind::kNotMeasured:
      return "not_measured";
    case ChangeKind::kThreshold:
      break;
  }
  return "threshold";
}

Json change_json(const BaselineChange& change) {
  Json json{{"name", change.name}, {"line", change.line}, {"kind", kind_word(change.kind)}};
  json["point"] = change.point ? identity_json(*change.point) : Json();
  json["at_bytes"] = change.kind == ChangeKind::kThreshold ? Json(change.at_bytes) : Json();
  json["metric"] = change.metric ? Json(dotted_key(row_of(*change.metric))) : Json();
  json["call"] = change.call;
  json["before"] = change.before;
  json["after"] = change.after;
  json["direction"] = word_of(direction_of(change));
  return json;
}

Json or_null(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); }

Json group_json(const ReviewGroup& group) {
  Json json{{"cause", word_of(group.cause)},
            {"direction", word_of(group.direction)},
            {"title", group.title},
            {"sentence", group.sentence},
            {"first_calls_only", group.first_calls_only},
            {"thread", group.thread.empty() ? Json() : Json(group.thread)},
            {"touch", group.touch ? Json(*group.touch) : Json()},
            {"cases", group.cases}};
  json["ranges"] = Json::array();
  for (const ReviewRange& range : group.ranges) {
    json["ranges"].push_back({{"from_bytes", range.from_bytes},
                              {"to_bytes", range.to_bytes},
                              {"from_exact", range.from_exact},
                              {"to_exact", range.to_exact}});
  }
  json["thresholds"] = Json::array();
  for (const ReviewThreshold& each : group.thresholds) {
    json["thresholds"].push_back(
        {{"before_bytes", or_null(each.before_bytes)}, {"after_bytes", or_null(each.after_bytes)}});
  }
  json["example"] = nullptr;
  if (group.example) {
    json["example"] =
        Json{{"point", identity_json(group.example->point)},
             {"metric", group.example->metric ? Json(row_of(*group.example->metric).key) : Json("status")},
             {"call", group.example->call},
             {"before", group.example->before},
             {"after", group.example->after},
             {"words", group.example->words}};
  }
  json["changes"] = group.changes;
  return json;
}

/// Which way a point went, of all changes of it: "same", "better", "worse", "mixed", "neither".
std::string way_of(const Review& review, const PointIdentity& point) {
  bool worse = false;
  bool better = false;
  bool any = false;
  for (const ReviewGroup& group : review.groups) {
    for (const std::size_t place : group.changes) {
      const BaselineChange& change = review.changes[place];
      if (!change.point || !(*change.point == point)) continue;
      any = true;
      worse = worse || group.direction == Direction::kWorse;
      better = better || group.direction == Direction::kBetter;
    }
  }
  if (!any) return "same";
  return worse && better ? "mixed"
                         : word_of(worse    ? Direction::kWorse
                                   : better ? Direction::kBetter
                                            : Direction::kNeither);
}

Json side_json(const Point* point) {
  if (point == nullptr) return not_available("not measured");
  Json json{{"status", word_of(point->status)}};
  for (const Metric metric : kSteadyMetrics) add_value(*point, row_of(metric), json);
  return json;
}

/// Every point that was compared, what did not change as well: before and after belong on one chart.
Json points_json(const CheckResult& result) {
  Json points = Json::array();
  for (const Point& before : result.baseline.points) {
    const PointIdentity point = identity_of(before);
    Json& json = points.emplace_back(identity_json(point));
    json["verdict"] = way_of(result.review, point);
    json["before"] = side_json(&before);
    json["after"] = side_json(point_of(result.measured, point));
  }
  return points;
}

Json result_json(const CheckResult& result) {
  Json json;
  json["allocator"] = allocator_json(result.allocator);
  json["label"] = name_and_version(result.allocator);
  json["baseline"] = Json{{"file", result.baseline_path},
                          {"allocator", result.baseline.allocator},
                          {"version", result.baseline.version},
                          {"env", result.baseline.env},
                          {"measured_on", result.baseline.measured_on}};
  json["measured_on"] = result.measured_on;
  json["verdict"] = word_of(result.review.verdict);
  json["sentence"] = result.review.sentence;
  json["groups"] = Json::array();
  for (const ReviewGroup& group : result.review.groups) json["groups"].push_back(group_json(group));
  json["changes"] = Json::array();
  for (const BaselineChange& change : result.review.changes) json["changes"].push_back(change_json(change));
  json["points"] = points_json(result);
  json["not_compared"] = Json::array();
  for (const NotCompared& each : result.not_compared) {
    json["not_compared"].push_back({{"name", each.name}, {"why", each.why}});
  }
  json["accepted_failures"] = result.accepted_failures;
  json["conditions"] = Json::array();
  for (const ConditionDifference& each : result.conditions) {
    json["conditions"].push_back({{"name", each.name},
                                  {"before", each.before},
                                  {"after", each.after},
                                  {"may_explain", each.may_explain},
                                  {"sentence", each.sentence}});
  }
  json["load"] = result.load;
  json["notes"] = result.notes;
  json["accept"] = result.accept;
  return json;
}

ReviewVerdict overall(const std::vector<CheckResult>& results) {
  const auto any = [&](ReviewVerdict verdict) {
    return std::any_of(results.begin(), results.end(),
                       [&](const auto& each) { return each.review.verdict == verdict; });
  };
  const bool mixed = any(ReviewVerdict::kMixed);
  const bool worse = mixed || any(ReviewVerdict::kWorse);
  const bool better = mixed || any(ReviewVerdict::kBetter);
  if (any(ReviewVerdict::kFailed)) return ReviewVerdict::kFailed;
  if (worse) return better ? ReviewVerdict::kMixed : ReviewVerdict::kWorse;
  if (better) return ReviewVerdict::kBetter;
  return any(ReviewVerdict::kChanged) ? ReviewVerdict::kChanged : ReviewVerdict::kSame;
}

std::string overall_sentence(const std::vector<CheckResult>& results) {
  if (results.size() == 1) return results.front().review.sentence;
  std::vector<std::string> changed;
  for (const CheckResult& result : results) {
    if (result.review.verdict != ReviewVerdict::kSame) changed.push_back(result.allocator.name);
  }
  if (changed.empty())
    return fmt::format("same: {} as in their baselines", format_counted(results.size(), "allocator"));
  return fmt::format("{}: {} of {} allocators differ{} from their baselines: {}", word_of(overall(results)),
                     changed.size(), results.size(), changed.size() == 1 ? "s" : "", fmt::join(changed, ", "));
}

/// Whether any point of a baseline has this metric, or says why not.
bool is_held(const Baseline& baseline, Metric metric) {
  return std::any_of(baseline.points.begin(), baseline.points.end(),
                     [&](const Point& point) { return !point[metric].is_absent(); });
}

}  // namespace

std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after) {
  std::vector<NotCompared> found;
  if (before.points.empty()) return found;
  for (const Metric metric : kSteadyMetrics) {
    const MetricRow& row = row_of(metric);
    if (!is_held(before, metric)) {
      found.push_back({row.key, "the baseline does not hold it"});
      continue;
    }
    for (const Point& point : before.points) {
      const Point* now = point_of(after, identity_of(point));
      if (now == nullptr || !point.is_ok() || !now->is_ok() || (row.of_touching && point.touch == 0)) continue;
      const std::string was = point.why_not(metric);
      const std::string is = now->why_not(metric);
      if (was.empty() && is.empty()) continue;
      found.push_back({fmt::format("{}, {}", name_of(point), row.key),
                       was.empty() ? "not measured now: " + is : "not in the baseline: " + was});
    }
  }
  return found;
}

Json check_json(const std::vector<CheckResult>& results, bool strict) {
  Json json;
  const ReviewVerdict verdict = overall(results);
  json["schema"] = "zerotax.check/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["verdict"] = word_of(verdict);
  json["sentence"] = overall_sentence(results);
  json["strict"] = strict;
  json["passed"] = verdict == ReviewVerdict::kSame || (verdict == ReviewVerdict::kBetter && !strict);
  json["checks"] = Json::array();
  for (const CheckResult& result : results) json["checks"].push_back(result_json(result));
  return json;
}

ExitStatus status_of(const Json& document) {
  return document.at("passed").get<bool>() ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::check
