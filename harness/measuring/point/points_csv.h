#pragma once

#include <string>
#include <vector>

#include "point/typed_point.h"

namespace zerotax {

/// Points as comma-separated values: one row each, single figures only; a figure that is not available is empty.
std::string points_csv(const std::vector<Point>& points);

}  // namespace zerotax
