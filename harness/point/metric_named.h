#pragma once

#include <optional>
#include <string>

#include "point/metrics.h"

namespace zerotax {

/// The metric of this key ("calloc_faults"), or of this name for people ("calloc faults"); nothing if no metric has it.
std::optional<Metric> metric_named(const std::string& word);

}  // namespace zerotax
