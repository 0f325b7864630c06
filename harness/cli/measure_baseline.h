#pragma once

#include "base/json.h"
#include "drive/allocators.h"

namespace zerotax {

/// Measures the deterministic figures of one allocator, audits side by side, with progress. Throws UsageError if
/// interrupted.
Json measure_baseline(const Allocator& allocator, double timeout_s);

}  // namespace zerotax
