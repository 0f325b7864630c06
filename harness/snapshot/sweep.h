#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/plot_canvas.h"
#include "snapshot/session.h"

namespace zerotax::snapshot {

/// The values of each axis of a sweep.
struct SweepAxes {
  std::vector<unsigned> writers;
  std::vector<unsigned> checkpointers;
  std::vector<std::uint64_t> array_bytes;
  std::vector<std::uint64_t> batch_bytes;
  std::vector<std::string> placement;  ///< on NUMA nodes
};

/// From words "writers=1,4,28", "checkpointers=…", "size=64MiB,1GiB", "batch=…", "placement=same,apart", each axis at
/// most once, or the one word "usual". An axis that is not named has the value of `given`. `nodes`: NUMA nodes of this
/// machine. Throws UsageError, and MachineError for a placement that needs more nodes.
SweepAxes parse_sweep(const std::vector<std::string>& words, const SnapshotParameters& given, std::size_t nodes);

/// One point of a sweep.
struct SweepRow {
  SnapshotAlternative alternative;
  SnapshotParameters parameters;
};

/// All combinations, sizes outermost, alternatives innermost. Throws UsageError for what check_snapshot refuses, and
/// for more than a thousand rows. A batch that is larger than the array makes no row, unless there would be none.
std::vector<SweepRow> sweep_rows(const SweepAxes& axes, const std::vector<SnapshotAlternative>& alternatives,
                                 const SnapshotParameters& given, const SnapshotParameters& published);

/// All runs of a row.
struct SweepRuns {
  std::string status;  ///< as SnapshotRun; empty: nothing was run
  std::string reason;
  std::vector<SnapshotRun> timing;
  Json faults;
  Json cpu_time;
};

/// What a sweep runs.
struct SweepPlan {
  Allocator allocator;
  SweepAxes axes;
  std::vector<SweepRow> rows;
  unsigned repeat = 3;
  double timeout_s = 60;
};

/// Carries it out, one row after the other: the timing runs, one for CPU time over time, one for faults. Of rows that
/// were not finished when `stop` asked for an end, nothing is kept.
std::vector<SweepRuns> run_sweep(const SweepPlan& plan, const std::function<bool()>& stop);

/// The object of "zerotax.snapshot_sweep/1" (results/schema/snapshot_sweep.schema.json).
Json sweep_json(const SweepPlan& plan, const std::vector<SweepRuns>& runs, const std::string& started,
                const std::vector<std::string>& command, const Json& environment);

/// The verdict on a row with status "ok": an object of "verdict" in that schema. Is the kernel copying, and is the copy
/// done before the writers are?
Json sweep_verdict(const Json& row);

/// A row's alternative, sizes, threads and placement, in words.
std::string sweep_title(const Json& row);

/// Adds to the document, or replaces, the verdict of each row, `sentence`, and `loss`: the rows whose faults are not
/// all there, or null.
void add_sweep_verdict(Json& sweep);

/// The table for the terminal, at most 80 columns, and the sentence.
std::string sweep_table(const Json& sweep);

/// CPU time over time of each row.
std::string sweep_plots(const Json& sweep, const PlotStyle& style);

}  // namespace zerotax::snapshot
