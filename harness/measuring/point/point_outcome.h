#pragma once

#include "point/point.h"

namespace zerotax {

/// Sets status and reason of a point, of its first pass that went wrong, then of its contents; and its violations.
void set_outcome(const Passes& passes, Point& point);

}  // namespace zerotax
