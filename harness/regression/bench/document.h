#pragma once

#include "base/json.h"
#include "bench/result.h"

namespace zerotax::bench {

void to_json(Json& json, const Counts& counts);
void from_json(const Json& json, Counts& counts);
void to_json(Json& json, const Observed& observed);
void from_json(const Json& json, Observed& observed);

/// The object "zerotax.bench/1" (results/schema/bench.schema.json).
Json bench_json(const Report& report);

}  // namespace zerotax::bench
