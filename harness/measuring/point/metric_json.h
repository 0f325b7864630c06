#pragma once

#include <string>

#include "base/json.h"
#include "point/metric_values.h"

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

}  // namespace zerotax
