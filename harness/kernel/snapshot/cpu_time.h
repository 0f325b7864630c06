#pragma once

#include <string>

#include "base/plot_canvas.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {

/// CPU time over time in the terminal: a column for each part of the time, as high as the CPUs that were busy, in user
/// mode and in the kernel. `title` stands above. Empty if it is not available.
std::string cpu_time_plot(const std::string& title, const Measured<CpuTime>& cpu_time, const PlotStyle& style);

/// All of a document of zerotax snapshot, an alternative after the other.
std::string cpu_time_plots(const Snapshot& snapshot, const PlotStyle& style);

}  // namespace zerotax::snapshot
