#pragma once

#include <vector>

#include "base/json.h"

namespace zerotax::trace {

/// Of times in ns: count, sum, mean, variance (ns squared, divided by n - 1), min, quartiles, 95th and 99th percentile,
/// max; n/a where there is none.
Json distribution_json(const std::vector<double>& ns);

/// How many of the times lie in each class, from the lowest that has any to the highest: from_ns <= time < to_ns, with
/// limits 1, 2, 5, 10, 20, 50 ... ns; the first one begins at 0. Empty without times.
Json histogram_json(const std::vector<double>& ns);

/// A line with a bar for each class of a histogram, `columns` wide at most; empty for an empty one.
std::string histogram_text(const Json& histogram, std::size_t columns);

}  // namespace zerotax::trace
