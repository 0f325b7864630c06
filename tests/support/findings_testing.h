#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/size.h"
#include "findings/findings.h"
#include "judge/document.h"
#include "judge/points.h"
#include "point/point_document.h"

namespace zerotax {

/// Metrics of a point that a test makes; the default is 0.
struct Made {
  std::string allocator = "a";
  std::uint64_t size = kMiB;
  double touch = 0;
  std::string thread = "main";
  std::uint64_t zeroed = 0;
  std::uint64_t redundant = 0;
  std::uint64_t populated = 0;
  std::uint64_t calloc_faults = 0;
  std::uint64_t touch_faults = 0;
  std::uint64_t first_zeroed = 0;
  std::uint64_t first_redundant = 0;
  std::uint64_t first_populated = 0;
  std::vector<std::string> calloc_calls = {};
  std::vector<std::string> free_calls = {};
  double ns = 1000;
};

inline Json calls_json(const std::vector<std::string>& names) {
  Json calls = Json::object();
  for (const std::string& name : names) calls[name] = 1;
  return calls;
}

inline Json point_of(const Made& made) {
  const Json time{{"median", made.ns}, {"p05", made.ns}, {"p95", made.ns}};
  Json json;
  json["allocator"] = made.allocator;
  json["version"] = "1.0";
  json["env"] = Json::object();
  json["case"] = "calloc_loop";
  json["size_bytes"] = made.size;
  json["touch"] = made.touch;
  json["thread"] = made.thread;
  json["status"] = "ok";
  json["reason"] = nullptr;
  json["calloc_ns"] = time;
  json["free_ns"] = time;
  json["touch_ns"] = made.touch > 0 ? time : not_available("nothing is touched");
  json["zero_ns"] = 0;
  json["zeroed_bytes"] = made.zeroed;
  json["redundant_zeroed_bytes"] = made.redundant;
  json["populated_bytes"] = made.populated;
  json["calloc_faults"] = made.calloc_faults;
  json["touch_faults"] = made.touch > 0 ? Json(made.touch_faults) : not_available("nothing is touched");
  json["free_faults"] = 0;
  json["calloc_syscalls"] = calls_json(made.calloc_calls);
  json["free_syscalls"] = calls_json(made.free_calls);
  json["first_ops"] = Json::array({{{"op", 1},
                                    {"zeroed_bytes", made.first_zeroed},
                                    {"redundant_zeroed_bytes", made.first_redundant},
                                    {"populated_bytes", made.first_populated},
                                    {"calloc_faults", 1},
                                    {"calloc_ns", 5000}}});
  json["violations"] = Json::array();
  return json;
}

inline Json found_json(const std::vector<Json>& points, const Json& thresholds = nullptr) {
  return findings::findings_json(find_findings(typed_points(points), thresholds), "made");
}

/// Returns the IDs and severities of the findings in points that a test made, such as "a-cliff-7 low".
inline std::vector<std::string> found_in(const std::vector<Made>& made, const Json& thresholds = nullptr) {
  std::vector<Json> points;
  points.reserve(made.size());
  for (const Made& each : made) points.push_back(point_of(each));
  std::vector<std::string> ids;
  const Json found = found_json(points, thresholds);
  for (const Json& finding : found.at("findings")) {
    ids.push_back(finding.at("id").get<std::string>() + " " + finding.at("severity").get<std::string>());
  }
  return ids;
}

using Ids = std::vector<std::string>;

}  // namespace zerotax
