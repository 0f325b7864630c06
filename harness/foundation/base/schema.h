#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Checks a document against results/schema/NAME.schema.json as it was at build time. Returns the first problem with
/// its place, such as: /points/3/calloc_ns: "x" has the wrong type. Returns "" if there is no problem. A key that the
/// schema does not know is allowed, because a later version may have written the key. Throws std::logic_error if the
/// schema is unknown. Not thread-safe.
std::string schema_problem(const Json& document, const std::string& name);

}  // namespace zerotax
