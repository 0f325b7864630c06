#pragma once

#include <string>

#include "base/json.h"
#include "base/plot_canvas.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {

/// The CPU time of the program and of its child in each interval between two samples of a run, as a monitor such as
/// htop shows it: an object of "cpu_time" in results/schema/snapshot.schema.json.
Json cpu_time_json(const SnapshotRun& run);

/// That object over time in the terminal: a column for each part of the time, as high as the CPUs that were busy, in
/// user mode and in the kernel. `title` stands above. Empty if it is not available.
std::string cpu_time_plot(const std::string& title, const Json& cpu_time, const PlotStyle& style);

/// All of a document of zerotax snapshot, an alternative after the other.
std::string cpu_time_plots(const Json& snapshot, const PlotStyle& style);

}  // namespace zerotax::snapshot
