#pragma once

#include <functional>

#include "core/plan.h"
#include "core/typed_point.h"

namespace zerotax {

/// The deterministic figures of one point, by an audit pass alone: times and faults are n/a. A point that does
/// not fit in memory is skipped. `stop` as in run_child: the result is then meaningless.
Point audit_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop);

/// The same, and the faults of the steady state, by a timing pass: how long it takes depends on what runs beside it,
/// but not how many faults it takes. So its times mean nothing.
Point count_point(const Plan& plan, const PointSpec& spec, const std::function<bool()>& stop);

}  // namespace zerotax
