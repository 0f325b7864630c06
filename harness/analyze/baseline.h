#pragma once

#include <string>
#include <vector>

#include "analyze/threshold_search.h"
#include "base/json.h"
#include "drive/allocators.h"

namespace zerotax {

/// The deterministic figures of one allocator, to be held against a later measurement: "zerotax.baseline/1".
Json baseline_json(const Allocator& allocator, const std::vector<Json>& points, const ThresholdSearch& thresholds,
                   const Json& environment);

/// What two measurements of one allocator agree on: a figure on which they do not (some allocators give memory back by
/// the clock) becomes {"na": …}, a threshold that only one of them found is left out.
Json agreed_baseline(const Json& one, const Json& other);

/// Throws UsageError if a file's content is no baseline.
void check_baseline(const Json& baseline, const std::string& file);

/// Every difference between a baseline and a new measurement of the same kind, one line each: what, before, after. A
/// figure that is not available on either side is no difference, for another kernel may not offer it.
std::vector<std::string> compare_baselines(const Json& before, const Json& after);

}  // namespace zerotax
