#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "os/page.h"
#include "point/metric_value.h"
#include "point/typed_point.h"

namespace zerotax {

/// Returns a value as JSON. An absent value also becomes {"na": …}.
Json to_json(const MetricValue& value);

/// Parses the JSON of a value of this row. `single` means that the value belongs to one operation or one kind of call,
/// and so has no median and percentiles. Throws std::invalid_argument, with the key below `parent`, if the JSON has
/// another type.
MetricValue metric_value_from_json(const Json& json, const MetricRow& row, bool single, const std::string& parent);

/// Writes the value of a row into an object, in the row's group. Writes nothing if the value is absent.
void add_value(const MetricValues& values, const MetricRow& row, Json& object);

/// Reads the value of a row from an object, if there is one.
void read_value(const Json& object, const MetricRow& row, bool single, const std::string& parent, MetricValues& values);

/// Returns a point in the format of results/schema/point.schema.json. Absent values are omitted.
Json to_json(const Point& point);

/// Reads a stored point, from a machine with this page size. Missing keys become absent values, and keys of a later
/// version are ignored. Throws std::invalid_argument, with the value's position, if a value's type differs from the
/// type in the schema.
Point point_from_json(const Json& json, std::uint64_t page = page_bytes());

/// Reads the points of a run. Throws UsageError if a point is invalid.
std::vector<Point> typed_points(const std::vector<Json>& points, std::uint64_t page = page_bytes());

/// Returns points as comma-separated values, one row each, with only single numbers and words. A value that is n/a is
/// empty.
std::string points_csv(const std::vector<Point>& points);

}  // namespace zerotax
