#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Whether a point's status says that the allocator did what it must: measured to its end and nothing promised was
/// broken ("ok"), or not measured at all ("skipped").
bool is_healthy_status(const std::string& status);
bool is_healthy(const Json& point);

}  // namespace zerotax
