#pragma once

#include <optional>

#include "base/json.h"
#include "core/point.h"

namespace zerotax {

/// The "fork" object of a point whose case forks (results/schema/point.schema.json): times and faults of the timing
/// pass, what the faults were of the faults pass. Of one operation (counted from 0) if `op` is given, else of the
/// steady state. Nothing for a case that does not fork.
std::optional<Json> fork_json(const Passes& passes, std::optional<std::size_t> op = std::nullopt);

}  // namespace zerotax
