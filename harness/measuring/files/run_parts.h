#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "files/results.h"

namespace zerotax {

inline constexpr const char* kRunSchema = "zerotax.run/1";

/// What is read of a run's document, which keeps to its schema.
struct RunParts {
  Json environment;
  std::optional<std::map<std::string, Json>> environments;
  std::optional<ComparableTimes> comparable_times;
  std::optional<std::vector<Json>> points;  ///< nothing: they are in points_file
  std::optional<std::string> points_file;
};

void from_json(const Json& json, RunParts& run);

}  // namespace zerotax
