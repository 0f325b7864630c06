#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/plot_canvas.h"
#include "snapshot/result.h"

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

// The fields below are the keys of results/schema/snapshot_sweep.schema.json, which describes them.

struct SweptFaults {
  FaultMethod method = FaultMethod::kTracepoints;
  std::uint64_t lost = 0;
  Counts before_end;
  Counts after_end;
  std::uint64_t pages = 0;
};

struct NodeShares {
  double first = 0;
  double second = 0;
};

struct Placed {
  Measured<NodeShares> array;
  Measured<NodeShares> destination;
};

enum class IsItCopying { kNo, kUntilEnd, kAfterEnd };
enum class DoneFirst { kAlways, kSometimes, kNever };

struct SweepVerdict {
  Measured<IsItCopying> is_it_copying;
  Measured<DoneFirst> copy_done_first;
  std::string sentence;
};

/// Each is n/a where the row's status is not ok.
struct SweptFigures {
  Measured<Quantiles> writers_wall_ns;
  Measured<Quantiles> copy_ns;
  Measured<Quantiles> child_end_ns;
  Measured<Quantiles> writers_user_ns;
  Measured<Quantiles> writers_system_ns;
  Measured<std::uint64_t> copy_done_first_runs;
  Measured<CpuTime> cpu_time;
  Measured<SweptFaults> faults;
  Measured<Placed> placed;
};

SweptFigures no_figures(const std::string& why);

/// Why there is nothing of a row that was begun, or not even that.
inline constexpr const char* kNotFinished = "interrupted before it was finished";

struct SweptRow : SnapshotParameters, SweptFigures {
  std::string alternative;
  Status status = Status::kSkipped;
  OrNull<std::string> reason;
  std::uint64_t runs = 0;
  Measured<SweepVerdict> verdict{};

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
};

struct SweptAxes : SweepAxes {
  Measured<std::vector<std::string>> placement;
};

struct Sweep : DocumentHead {
  std::string state;
  Json allocator;
  unsigned repeat = 1;
  SweptAxes axes;
  std::vector<SweptRow> rows;
  OrNull<std::string> loss;        ///< the rows whose faults are not all there: the verdict's
  Measured<std::string> sentence;  ///< the verdict's
};

/// All combinations, sizes outermost, alternatives innermost. Throws UsageError for what check_snapshot refuses, and
/// for more than a thousand rows. A batch that is larger than the array makes no row, unless there would be none. None
/// is measured yet.
std::vector<SweptRow> sweep_rows(const SweepAxes& axes, const std::vector<SnapshotAlternative>& alternatives,
                                 const SnapshotParameters& given, const SnapshotParameters& published);

/// What a sweep runs.
struct SweepPlan {
  Allocator allocator;
  SweepAxes axes;
  std::vector<SweptRow> rows;
  unsigned repeat = 3;
  double timeout_s = 60;
};

/// Carries it out, one row after the other: the timing runs, one for CPU time over time, one for faults. Of rows that
/// were not finished when a signal asked for an end, nothing is kept. All but the verdict and the environment.
Sweep run_sweep(const SweepPlan& plan);

/// The verdict on a row: is the kernel copying, and is the copy done before the writers are?
Measured<SweepVerdict> sweep_verdict(const SweptRow& row);

/// A row's alternative, sizes, threads and placement, in words.
std::string sweep_title(const SweptRow& row);

/// Adds, or replaces, the verdict of each row, and that on all.
void add_sweep_verdict(Sweep& sweep);

/// The table for the terminal, at most 80 columns, and the sentence.
std::string sweep_table(const Sweep& sweep);

/// CPU time over time of each row.
std::string sweep_plots(const Sweep& sweep, const PlotStyle& style);

}  // namespace zerotax::snapshot
