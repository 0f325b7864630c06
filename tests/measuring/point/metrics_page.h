#pragma once

#include <string>

namespace zerotax {

/// The text of results/schema/metrics.md: every metric with its unit, its key in JSON, its column in points.csv, its
/// pass and its meaning.
std::string metrics_page();

}  // namespace zerotax
