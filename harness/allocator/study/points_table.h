#pragma once

#include <string>
#include <vector>

#include "base/plot_canvas.h"
#include "base/table.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// Returns a table of at most 80 columns with a row for each point in its steady state, and a line for each failed
/// point.
std::string points_table(const std::vector<Point>& points, const Palette& palette = {});

/// Returns a table of rates for points of cases that receive.
Table transfers_table(const std::vector<Point>& points);

/// Returns a table of refilled bytes for points of refill_loop.
Table refills_table(const std::vector<Point>& points);

/// Returns a plot of the time of one calloc against size, for each case, touch and thread with at least two sizes. Each
/// allocator is a line. Neighboring sizes are joined only if later callocs behave the same at both (signature_of),
/// because otherwise a threshold lies between them. Empty if no plot has two sizes with a time.
std::string points_plot(const std::vector<Point>& points, const PlotStyle& style);

}  // namespace zerotax::study
