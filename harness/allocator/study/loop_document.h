#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "point/plan.h"
#include "study/loops.h"

namespace zerotax::study {

/// The document "zerotax.loop/1" (results/schema/loop.schema.json).
Json loops_json(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs,
                const std::vector<std::string>& command, const std::string& started, bool complete);

/// A table for each size, of at most 80 columns, and below it what zeroing costs.
std::string loops_text(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs);

}  // namespace zerotax::study
