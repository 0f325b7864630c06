#pragma once

#include <string>

#include "point/typed_point.h"

namespace zerotax {

/// Whether a point's status says that the allocator did what it must: measured to its end and nothing promised was
/// broken ("ok"), or not measured at all ("skipped").
bool is_healthy_status(const std::string& status);

/// What no schema can check of a point's metrics and those of its first operations: more redundant bytes than zeroed
/// ones, or percentiles that do not ascend. Returns it with its place below the point, or nothing.
std::string contradiction_in(const Point& point);

}  // namespace zerotax
