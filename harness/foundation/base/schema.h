#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Checks a document against results/schema/NAME.schema.json, as it was when zerotax was built. Returns the first thing
/// that is wrong with it, with its place: "/points/3/calloc_ns: "x" has the wrong type"; empty if nothing is. A key
/// that the schema does not know is allowed: a later version may have written it. Throws std::logic_error for an
/// unknown schema. Not for several threads at once.
std::string schema_problem(const Json& document, const std::string& name);

}  // namespace zerotax
