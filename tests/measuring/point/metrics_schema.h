#pragma once

#include "base/json.h"

namespace zerotax {

/// results/schema/point.schema.json with every metric as the table has it: its properties and their order, types, words
/// and descriptions, and which are required. The rest of `schema` stays unchanged.
Json with_metrics(const Json& schema);

}  // namespace zerotax
