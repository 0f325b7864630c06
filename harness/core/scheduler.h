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
  std::size_t side_by_side = 0;               ///< audits at a time, at most; 0: as many as there are CPUs
};

/// Expected seconds of a point, good enough to estimate the time left: processes, and bytes written in each pass.
double expected_seconds(const Plan& plan, const PointSpec& point);

/// Measures a plan: group by group, first the audits, side by side on the CPUs that there are, then the timing and
/// zeroing passes, one after the other and nothing beside them. Every pass is a fresh process. Returns false if it was
/// stopped.
bool run_plan(const Plan& plan, const RunHooks& hooks);

}  // namespace zerotax
