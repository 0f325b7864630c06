#pragma once

#include <vector>

#include "point/point.h"

namespace zerotax {

/// The first operations of the process, 8 at most.
std::vector<FirstOperation> first_operations(const Passes& passes);

}  // namespace zerotax
