#pragma once

#include <string>
#include <vector>

#include "base/plot_canvas.h"
#include "base/table.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// Points as a table of at most 80 columns: one row each, steady state; below it a line for each point that failed.
std::string points_table(const std::vector<Point>& points, const Palette& palette = {});

/// Time of one calloc against size, a picture for each case, touch and thread that has two sizes or more, a line for
/// each allocator. Two neighbouring sizes are joined only if later callocs behave the same at both (signature_of):
/// between others lies a threshold. Empty if no group of points has two sizes with a time.
std::string points_plot(const std::vector<Point>& points, const PlotStyle& style);

}  // namespace zerotax::study
