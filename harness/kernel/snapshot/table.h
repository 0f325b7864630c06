#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/plot_canvas.h"
#include "base/table.h"
#include "snapshot/result.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {

/// The default outputs, each of which fits one screen.
Answer snapshot_answer(const Snapshot& snapshot);
Answer sweep_answer(const Sweep& sweep);

/// The full text in at most 80 columns: a headline, the table, the answers and the warnings.
std::string snapshot_text(const Snapshot& snapshot);

/// A row for each alternative, and the reasons why alternatives failed.
std::string snapshot_table(const Snapshot& snapshot);

/// The answers: whether the kernel is copying, what helps, and how to avoid the copies.
std::string snapshot_answers(const Snapshot& snapshot);

/// The alternatives that are best in some respect, each listed once. If there is none, a sentence says so.
std::vector<std::string> recommended(const Snapshot& snapshot, const Advice& advice);

/// The pages that were copied and reused before and after the child's end; empty if the faults are unknown.
std::string counts_in_brief(const Result& result);

/// The alternative, status and reason of a result that is not ok.
std::string failure_text(const Result& result);

/// The sentence of the verdict and the table of a sweep, in at most 80 columns.
std::string sweep_table(const Sweep& sweep);
std::string sweep_sentence(const Sweep& sweep);
/// A table of these rows of a sweep, in this order.
Table swept_rows(const std::vector<const SweptRow*>& rows);
inline constexpr const char* kCopiedFirst =
    "copied first: runs in which the copy was done before the writers were, of all.";

/// A plot for the terminal of CPU time over time, in user mode and in the kernel. Each part of the time has a column,
/// whose height is the number of busy CPUs. `title` is printed above the plot. Empty if the times are not available.
std::string cpu_time_plot(const std::string& title, const Measured<CpuTime>& cpu_time, const PlotStyle& style);

/// The plots of all alternatives of a snapshot, or of all rows of a sweep, one below the other.
std::string cpu_time_plots(const Snapshot& snapshot, const PlotStyle& style);
std::string cpu_time_plots(const Sweep& sweep, const PlotStyle& style);

}  // namespace zerotax::snapshot
