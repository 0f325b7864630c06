#pragma once

#include <string>

#include "run/fleet/job_folder.h"

namespace zerotax::fleet {

/// HOST.json: the object of "zerotax.host/1".
struct HostEntry {
  std::string schema = "zerotax.host/1";
  Environment environment;
};

void to_json(Json& json, const HostEntry& entry);
void from_json(const Json& json, HostEntry& entry);
void to_json(Json& json, const JobPlan& plan);
void from_json(const Json& json, JobPlan& plan);
void to_json(Json& json, const ItemResult& result);
void from_json(const Json& json, ItemResult& result);

/// A control that was measured twice on a host. What the two differ in becomes n/a.
Json control_json(const Point& one, const Point& other, const std::string& host);

}  // namespace zerotax::fleet
