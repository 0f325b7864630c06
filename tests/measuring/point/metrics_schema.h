#pragma once

#include "base/json.h"

namespace zerotax {

/// Returns results/schema/point.schema.json with its metrics updated from the table: their properties, order, types and
/// descriptions, and which are required. The rest of `schema` stays unchanged.
Json with_metrics(const Json& schema);

}  // namespace zerotax
