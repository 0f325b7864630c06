#pragma once

#include <optional>
#include <string>

#include "point/metrics.h"

namespace zerotax {

/// The metric of a key ("calloc_faults") or of a name for people ("calloc faults"); nothing if unknown.
std::optional<Metric> metric_named(const std::string& word);

}  // namespace zerotax
