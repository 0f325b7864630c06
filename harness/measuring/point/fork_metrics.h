#pragma once

#include "point/point.h"

namespace zerotax {

/// Whether the case forks. Times and faults of a fork are of the timing pass, what the faults were of the faults pass.
bool forks(const Passes& passes);

/// How copies and reuses were distinguished.
MetricValue fork_method(const PassResult& faults);

}  // namespace zerotax
