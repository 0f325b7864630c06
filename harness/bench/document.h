#pragma once

#include "base/json.h"
#include "bench/result.h"

namespace zerotax::bench {

/// The object "zerotax.bench/1" (results/schema/bench.schema.json).
Json bench_json(const Report& report);

}  // namespace zerotax::bench
