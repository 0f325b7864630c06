#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/json.h"
#include "core/plan.h"

namespace zerotax {

/// What a run needs besides its plan.
struct RunHooks {
  std::set<std::string> finished;             ///< keys (point_key) of points to skip
  std::function<bool()> stop;                 ///< asked often; true ends the run after killing what runs
  std::function<void(const Json&)> on_point;  ///< called once for each point that was finished or skipped, in order
};

/// Measures a plan: group by group, first the audits, side by side on the CPUs that there are, then the timing and
/// zeroing passes, one after the other and nothing beside them. Every pass is a fresh process. Returns false if it was
/// stopped.
bool run_plan(const Plan& plan, const RunHooks& hooks);

}  // namespace zerotax
