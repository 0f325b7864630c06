#pragma once

#include <vector>

#include "base/json.h"
#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {

/// A point as results/schema/point.schema.json has it. Absent values are left out.
Json to_json(const Point& point);

/// A point that was stored, on a machine with pages of so many bytes. Keys that it lacks are absent; keys of a later
/// version are passed over. Throws std::invalid_argument, with the place, for a value of another type than the
/// schema's.
Point point_from_json(const Json& json, std::uint64_t page = page_bytes());

/// The points of a run, where it is read. Throws UsageError for an invalid point.
std::vector<Point> typed_points(const std::vector<Json>& points, std::uint64_t page = page_bytes());

}  // namespace zerotax
