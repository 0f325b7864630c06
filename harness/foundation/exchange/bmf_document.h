#pragma once

#include "base/json.h"
#include "exchange/outcome.h"

namespace zerotax::exchange {

/// Returns the Bencher Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): the name of a
/// benchmark, the slug of a measure, and {"value", "lower_value", "upper_value"}. Omits benchmarks without measures.
/// Merges benchmarks of the same name, keeping the measures of both.
Json bmf_json(const OutcomeList& list);

}  // namespace zerotax::exchange
