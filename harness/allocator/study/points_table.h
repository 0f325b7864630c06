#pragma once

#include <string>
#include <vector>

#include "base/palette.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// Points as a table of at most 80 columns: one row each, steady state; below it a line for each point that failed.
std::string points_table(const std::vector<Point>& points, const Palette& palette = {});

}  // namespace zerotax::study
