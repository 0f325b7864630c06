#pragma once

#include <string>
#include <vector>

#include "base/plot_canvas.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {

/// Returns a table of at most 80 columns with the change at each threshold in words. Lanes of an allocator with the
/// same changes at the same sizes appear once.
std::string thresholds_text(const std::vector<ThresholdLane>& lanes);

/// Returns the map of a search for a terminal. Each lane is a row that shows the behavior of later callocs at each
/// size, with a mark at each change. A worker thread has a row only if its behavior differs from the main thread's.
/// Empty if no lane was searched.
std::string thresholds_plot(const Thresholds& thresholds, const PlotStyle& style);

/// Returns the word for --allocator that names this allocator. For a library, the word contains the path.
std::string word_for(const std::string& allocator, const std::vector<std::string>& words);

/// Returns a command that measures the sizes on both sides of a threshold.
std::string both_sides_command(const Thresholds& thresholds, const ThresholdLane& lane, const Threshold& threshold,
                               const std::vector<std::string>& words);

/// Returns the command to run next. The command shows what a threshold costs in time: it measures both sides of the
/// first threshold at which calloc becomes more costly. `words` are the words of --allocator for allocators that are
/// not built in. Empty if no exact threshold makes calloc more costly.
std::string next_step(const Thresholds& thresholds, const std::vector<std::string>& words = {});

}  // namespace zerotax::thresholds
