#pragma once

#include <functional>

#include "base/json.h"
#include "core/plan.h"

namespace zerotax {

/// The deterministic figures of one point, by an audit pass alone: times and faults are {"na": …}. A point that does
/// not fit in memory is skipped. `stop` as in run_child: the result is then meaningless.
Json audit_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop);

}  // namespace zerotax
