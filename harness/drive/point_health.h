#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace zerotax {

/// Whether a point's status says that the allocator did what it must: measured to its end and nothing promised was
/// broken ("ok"), or not measured at all ("skipped").
bool is_healthy_status(const std::string& status);
bool is_healthy(const Json& point);

/// What a baseline (zerotax.baseline/1) holds of an allocator that fails, one line each, as in "calloc_loop 1 MiB touch
/// 0 main: crashed", and "from 65537 bytes on: the point is crashed (before: ok)". Empty for a healthy one.
std::vector<std::string> failing_in_baseline(const Json& baseline);

}  // namespace zerotax
