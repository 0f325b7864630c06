#include "base/fields.h"
#include "files/results.h"
#include "files/run_parts.h"
#include "point/point_json.h"

namespace zerotax {

ZEROTAX_FIELDS(ComparableTimes, hosts, left_out)
ZEROTAX_FIELDS_READ(RunParts, environment, environments, comparable_times, points, points_file)

namespace {

Json head_json(const RunHeader& header, const Plan& plan, std::size_t finished) {
  Json json{{"schema", kRunSchema},
            {"zerotax_version", ZEROTAX_VERSION},
            {"state", header.state},
            {"started", header.started},
            {"finished", header.finished.empty() ? Json(nullptr) : Json(header.finished)},
            {"command", header.command},
            {"environment", header.environment}};
  write_field(json, "load", header.load);
  write_field(json, "environments", header.environments);
  write_field(json, "comparable_times", header.comparable_times);
  write_field(json, "loads", header.loads);
  json["allocators"] = Json::array();
  for (const Allocator& allocator : plan.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["plan"] = {{"points_planned", plan.points.size()},
                  {"points_finished", finished},
                  {"study", plan.study.empty() ? Json(nullptr) : Json(plan.study)}};
  return json;
}

}  // namespace

Json run_json(const RunHeader& header, const Plan& plan, std::size_t finished) {
  Json json = head_json(header, plan, finished);
  json["points_file"] = kPointsFile;
  return json;
}

Json run_json(const RunHeader& header, const Plan& plan, const std::vector<Point>& points) {
  Json json = head_json(header, plan, points.size());
  json["points"] = Json::array();
  for (const Point& point : points) json["points"].push_back(to_json(point));
  return json;
}

}  // namespace zerotax
