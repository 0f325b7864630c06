#pragma once

#include <string>

#include "base/plot_canvas.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {

/// The table for the terminal: a row per alternative, at most 80 columns, and what was not ok.
std::string snapshot_table(const Snapshot& snapshot);

/// The answers: is the kernel copying, what helps, and how to avoid it.
std::string snapshot_answers(const Snapshot& snapshot);

/// The table of a sweep, at most 80 columns wide, and the sentence of the verdict.
std::string sweep_table(const Sweep& sweep);

/// CPU time over time in the terminal: a column for each part of the time, as high as the CPUs that were busy, in user
/// mode and in the kernel. `title` stands above. Empty if it is not available.
std::string cpu_time_plot(const std::string& title, const Measured<CpuTime>& cpu_time, const PlotStyle& style);

/// The plots of all alternatives of a snapshot, or of all rows of a sweep, one below the other.
std::string cpu_time_plots(const Snapshot& snapshot, const PlotStyle& style);
std::string cpu_time_plots(const Sweep& sweep, const PlotStyle& style);

}  // namespace zerotax::snapshot
