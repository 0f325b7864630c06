#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/allocators.h"
#include "core/typed_point.h"
#include "meter/sample_block.h"
#include "thresholds/search.h"

namespace zerotax::check {

/// The deterministic figures of one allocator, to be held against a later measurement: "zerotax.baseline/1".
Json baseline_json(const Allocator& allocator, const std::vector<Point>& points,
                   const thresholds::ThresholdSearch& thresholds, const Json& environment, ClockMode clock);

/// The clock that the allocator was given when a baseline was measured. The real one where it does not say: it was
/// written before the clock was stopped.
ClockMode baseline_clock(const Json& baseline);

/// What two measurements of one allocator agree on: a figure on which they do not becomes {"na": why}, a threshold that
/// only one of them found is left out. What the other did not measure stays as it is.
Json agreed_baseline(const Json& one, const Json& other, const std::string& why);

/// Throws UsageError if a file's content is no baseline by its schema's name.
void check_baseline(const Json& baseline, const std::string& file);

/// A figure or threshold that a baseline and a new measurement do not agree on.
struct BaselineChange {
  Json point;              ///< {"case", "size_bytes", "touch", "thread"}; null for a threshold
  std::uint64_t at_bytes;  ///< of a threshold; 0 for a point
  std::string name;        ///< of the figure: the same in each comparison with the same baseline
  std::string line;        ///< the name, with what it was before and is now
};

/// Every difference between a baseline and a new measurement, or one of some of its points. A figure that is not
/// available on either side is no difference, for another kernel may not offer it; nor is a point that `after` lacks.
/// Thresholds are compared if both have a list of them, be it empty.
std::vector<BaselineChange> compare_baselines(const Json& before, const Json& after);

/// The points of a baseline that a new measurement of all points does not have.
std::vector<BaselineChange> points_not_measured(const Json& before, const Json& after);

/// What a baseline holds of an allocator that fails, one line each, as in "calloc_loop 1 MiB touch 0 main: crashed",
/// and "from 65537 bytes on: the point is crashed (before: ok)". Empty for a healthy one.
std::vector<std::string> failing_in_baseline(const Json& baseline);

}  // namespace zerotax::check
