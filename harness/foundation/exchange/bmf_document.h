#pragma once

#include "base/json.h"
#include "exchange/outcome.h"

namespace zerotax::exchange {

/// The Bencher Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): the name of a benchmark, the
/// slug of a measure, and {"value", "lower_value", "upper_value"}. A benchmark without measures is left out; of two
/// benchmarks of one name, the measures of both are kept.
Json bmf_json(const OutcomeList& list);

}  // namespace zerotax::exchange
