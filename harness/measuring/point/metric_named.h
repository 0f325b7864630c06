#pragma once

#include <optional>
#include <string>

#include "point/metrics.h"

namespace zerotax {

/// Returns the metric with a key ("calloc_faults") or a displayed name ("calloc faults"), or nothing if it is unknown.
std::optional<Metric> metric_named(const std::string& word);

}  // namespace zerotax
