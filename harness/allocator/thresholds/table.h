#pragma once

#include <string>
#include <vector>

#include "base/plot_canvas.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {

/// A table of at most 80 columns: each threshold with what changes in words. Lanes of one allocator that change at the
/// same sizes in the same way are shown once.
std::string thresholds_text(const std::vector<ThresholdLane>& lanes);

/// The map of a search for a terminal: a row for each lane, what later callocs do at each size, and a mark at every
/// size where that changes. A worker thread has a row of its own only where it differs from the main thread. Empty if
/// no lane was searched.
std::string thresholds_plot(const Thresholds& thresholds, const PlotStyle& style);

/// The next step after thresholds, as a command to paste: it measures the sizes on both sides of the first threshold at
/// which a calloc becomes more costly, to show what that means in time. `words`: those of --allocator, that name what
/// is not built in. Empty if no exact threshold makes a calloc more costly.
std::string next_step(const Thresholds& thresholds, const std::vector<std::string>& words = {});

}  // namespace zerotax::thresholds
