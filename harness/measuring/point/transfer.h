#pragma once

#include "point/point.h"

namespace zerotax {

/// Adds the point's transfer, for a case that receives: what a second and a CPU second of receiving brought, and what
/// was zeroed for each byte received. Times and faults are of the loop at the end of the timing pass, bytes of the
/// audit, whose steady state the point has already. Nothing for a case that receives nothing. MB and GB are 10^6 and
/// 10^9 bytes.
void add_transfer(const Passes& passes, Point& point);

}  // namespace zerotax
