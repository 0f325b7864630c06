#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "os/page.h"
#include "point/metric_values.h"
#include "point/typed_point.h"

namespace zerotax {

/// A value as JSON; of one that is absent too, {"na": …}.
Json to_json(const MetricValue& value);

/// The JSON of a value of this row. Whether it may be a spread depends on where it stands: `single` is that of one
/// operation or one kind of call. Throws std::invalid_argument, with the key below `parent`, for JSON of another type.
MetricValue metric_value_from_json(const Json& json, const MetricRow& row, bool single, const std::string& parent);

/// Writes the value of a row into an object, in its group, unless it is absent.
void add_value(const MetricValues& values, const MetricRow& row, Json& object);

/// Reads the value of a row out of an object, if there is one.
void read_value(const Json& object, const MetricRow& row, bool single, const std::string& parent, MetricValues& values);

/// A point as results/schema/point.schema.json has it. Absent values are left out.
Json to_json(const Point& point);

/// A point that was stored, on a machine with pages of so many bytes. Keys that it lacks are absent; keys of a later
/// version are passed over. Throws std::invalid_argument, with the place, for a value of another type than the
/// schema's.
Point point_from_json(const Json& json, std::uint64_t page = page_bytes());

/// The points of a run, where it is read. Throws UsageError for an invalid point.
std::vector<Point> typed_points(const std::vector<Json>& points, std::uint64_t page = page_bytes());

/// Points as comma-separated values: one row each, single figures only; a figure that is not available is empty.
std::string points_csv(const std::vector<Point>& points);

}  // namespace zerotax
