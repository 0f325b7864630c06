#include "check/document.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "core/document.h"
#include "core/metric_json.h"
#include "core/point_health.h"
#include "core/point_json.h"

namespace zerotax::check {
namespace {

/// The word of a baseline for ClockMode::kStopped.
constexpr const char* kStopped = "stopped";

Json point_to_json(const Point& point) {
  Json json{{"case", point.case_name}, {"size_bytes", point.size_bytes}, {"touch", point.touch}};
  json["thread"] = point.thread;
  json["status"] = word_of(point.status);
  for (const Metric metric : kSteadyMetrics) add_value(point, row_of(metric), json);
  json["first_ops"] = Json::array();
  for (const FirstOperation& operation : point.first_ops) {
    Json& entry = json["first_ops"].emplace_back(Json::object());
    for (const Metric metric : kEarlyMetrics) add_value(operation, row_of(metric), entry);
  }
  return json;
}

std::vector<Point> points_from_json(const Json& json) {
  std::vector<Point> points;
  for (const Json& each : json) {
    const std::string place = fmt::format("/points/{}", points.size());
    try {
      const Point& point = points.emplace_back(point_from_json(each));
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

}  // namespace

Json to_json(const Baseline& baseline) {
  Json json;
  json["schema"] = "zerotax.baseline/1";
  json["allocator"] = baseline.allocator;
  json["version"] = baseline.version;
  json["env"] = baseline.env;
  json["measured_on"] = baseline.measured_on;
  if (baseline.clock == ClockMode::kStopped) json["conditions"] = {{"clock", kStopped}};
  json["points"] = Json::array();
  for (const Point& point : baseline.points) json["points"].push_back(point_to_json(point));
  if (baseline.thresholds) {
    json["thresholds"] = Json::array();
    for (const BaselineThreshold& each : *baseline.thresholds) {
      json["thresholds"].push_back({{"at_bytes", each.at_bytes}, {"changes", each.changes}});
    }
  }
  if (baseline.by_the_clock) json["by_the_clock"] = *baseline.by_the_clock;
  return json;
}

Baseline baseline_from_json(const Json& json) {
  Baseline baseline;
  baseline.allocator = json.at("allocator");
  baseline.version = json.at("version");
  baseline.env = json.at("env");
  baseline.measured_on = json.at("measured_on");
  if (const auto found = json.find("conditions"); found != json.end()) {
    baseline.clock = text_field(*found, "clock", "") == kStopped ? ClockMode::kStopped : ClockMode::kReal;
  }
  baseline.points = points_from_json(json.at("points"));
  if (const auto found = json.find("thresholds"); found != json.end()) {
    baseline.thresholds.emplace();
    for (const Json& each : *found) {
      baseline.thresholds->push_back({each.at("at_bytes"), each.at("changes").get<std::vector<std::string>>()});
    }
  }
  if (const auto found = json.find("by_the_clock"); found != json.end()) {
    baseline.by_the_clock = found->get<std::vector<std::string>>();
  }
  return baseline;
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
