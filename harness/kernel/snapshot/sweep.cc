#include "snapshot/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "os/numa_nodes.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax::snapshot {
namespace {

double sweep_weight(const SweptRow& row) { return static_cast<double>(row.array_bytes) * (1.0 + row.passes); }

Measured<SweptFaults> swept_faults(const SnapshotRun& run) {
  if (!run.ok()) return NotAvailable{run.reason};
  const Measured<Faults> all = faults_of(run);
  if (!all) return NotAvailable{all.why()};
  return SweptFaults{all->method, all->lost, all->before_end, all->after_end, all->pages};
}

/// Shares of the pages that lie on the first and on the second node, where a placement was asked for.
Measured<Placed> placed_of(const SnapshotRun& run) {
  if (!run.has("array_pages_seen")) return NotAvailable{"no placement was asked for"};
  const auto shares = [&](const std::string& what) -> Measured<NodeShares> {
    const auto seen = static_cast<double>(run.figure(what + "_pages_seen"));
    if (seen == 0) return NotAvailable{"the parent has none of its pages"};
    return NodeShares{static_cast<double>(run.figure(what + "_on_first")) / seen,
                      static_cast<double>(run.figure(what + "_on_second")) / seen};
  };
  return Placed{shares("array"), shares("destination")};
}

/// What the timing runs say.
SweptFigures figures_of(const std::vector<SnapshotRun>& timing) {
  SweptFigures figures = no_figures("it takes no snapshot");
  figures.writers_wall_ns = of_time(timing, "begin_ns", "end_ns");
  figures.child_end_ns = NotAvailable{"it has no child"};
  figures.writers_user_ns = of_figure(timing, "writers_user_ns");
  figures.writers_system_ns = of_figure(timing, "writers_system_ns");
  figures.placed = placed_of(timing.back());
  if (timing.front().figure("child") != 0) figures.child_end_ns = of_time(timing, "stopped_ns", "gone_ns");
  if (timing.front().figure("takes_snapshot") == 0) return figures;
  figures.copy_ns = of_time(timing, "stopped_ns", "complete_ns");
  figures.copy_done_first_runs =
      static_cast<std::uint64_t>(std::count_if(timing.begin(), timing.end(), [](const SnapshotRun& run) {
        return run.figure("complete_ns") < run.figure("end_ns");
      }));
  return figures;
}

/// All runs of a row. Throws Stop.
SweptRow measured_row(const SweepPlan& plan, SweptRow row, const std::string& library) {
  const auto once = [&](SnapshotPass pass) {
    end_if_stopped();
    const auto timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
    try {
      return run_snapshot(plan.allocator, library, row.alternative, row, pass, timeout, stop_requested);
    } catch (const MachineError& failure) {
      SnapshotRun run;
      run.status = Status::kFailed;
      run.reason = failure.what();
      return run;
    }
  };
  const auto fails = [&](const SnapshotRun& run) {
    row.status = run.status;
    row.reason = run.reason.empty() ? OrNull<std::string>() : run.reason;
    static_cast<SweptFigures&>(row) = no_figures(row.reason.value_or("it failed"));
    return !run.ok();
  };
  std::vector<SnapshotRun> timing;
  for (unsigned i = 0; i < plan.repeat; ++i) {
    const SnapshotRun run = once(SnapshotPass::kTiming);
    if (fails(run)) return row;
    timing.push_back(run);
    row.runs = timing.size();
  }
  // Where only its child sees the snapshot, it compares it where no time is measured.
  const bool unchecked = timing.back().figure("takes_snapshot") != 0 && timing.back().figure("checked_elements") == 0;
  if (unchecked && fails(once(SnapshotPass::kMemory))) return row;
  static_cast<SweptFigures&>(row) = figures_of(timing);
  const SnapshotRun cpu = once(SnapshotPass::kCpuTime);
  row.cpu_time = cpu.ok() ? cpu_time_of(cpu) : NotAvailable{cpu.reason};
  row.faults = swept_faults(once(SnapshotPass::kFaults));
  return row;
}

}  // namespace

SweptFigures no_figures(const std::string& why) {
  const NotAvailable na{why};
  return {na, na, na, na, na, na, na, na, na};
}

Sweep run_sweep(const SweepPlan& plan) {
  Sweep sweep;
  sweep.schema = "zerotax.snapshot_sweep/1";
  sweep.zerotax_version = ZEROTAX_VERSION;
  sweep.allocator = allocator_json(plan.allocator);
  sweep.repeat = plan.repeat;
  static_cast<SweepAxes&>(sweep.axes) = plan.axes;
  sweep.axes.placement = NotAvailable{"this machine has one NUMA node"};
  if (numa_nodes().size() > 1) sweep.axes.placement = plan.axes.placement;
  sweep.rows = plan.rows;
  const std::string library = library_to_preload(plan.allocator).value_or("");
  std::vector<Item> items;
  for (SweptRow& row : sweep.rows) {
    Item item;
    item.label = fmt::format("{}, {} of {}, {} and {}", row.alternative, format_size(row.batch_bytes),
                             format_size(row.array_bytes), format_counted(row.writers, "writer"),
                             format_counted(row.checkpointers, "checkpointer"));
    item.seconds = sweep_weight(row);
    item.memory_bytes = row.sizes * row.array_bytes;
    item.measure = [&plan, &library, &row](const Say&) {
      SweptRow measured = measured_row(plan, row, library);
      end_if_stopped();
      row = std::move(measured);
    };
    items.push_back(std::move(item));
  }
  Experiment experiment("sweeping", {0, true, {}});
  sweep.state = experiment.run(items) ? "complete" : "interrupted";
  return sweep;
}

}  // namespace zerotax::snapshot
