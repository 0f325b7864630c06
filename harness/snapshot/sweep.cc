#include "snapshot/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "core/interrupt.h"
#include "core/probe_identity.h"
#include "core/progress.h"
#include "os/memory.h"
#include "snapshot/cpu_time.h"
#include "snapshot/faults.h"
#include "snapshot/run_figures.h"

namespace zerotax::snapshot {
namespace {

double sweep_weight(const SweepRow& row) {
  return static_cast<double>(row.parameters.array_bytes) * (1.0 + row.parameters.passes);
}

Json swept_faults(const SnapshotRun& run) {
  if (!run.ok()) return not_available(run.reason);
  if (!run.every_fault && run.figure("told_by_sharing") == 0) {
    return not_available("an ordinary user cannot see enough of this alternative's faults: run as root");
  }
  const Json all = snapshot_faults_json(run);
  Json faults;
  for (const char* key : {"method", "lost", "before_end", "after_end", "pages"}) faults[key] = all.at(key);
  return faults;
}

/// One row of a sweep in the making.
class SweepRowRuns {
 public:
  SweepRowRuns(const SweepPlan& plan, const SweepRow& row, const std::string& library,
               const std::function<bool()>& stop)
      : plan_(plan), row_(row), library_(library), stop_(stop) {}

  SweepRuns take() {
    SweepRuns runs;
    runs.faults = runs.cpu_time = not_available(kNotRun);
    for (unsigned i = 0; i < plan_.repeat; ++i) {
      const SnapshotRun run = once(SnapshotPass::kTiming);
      runs.status = run.status;
      runs.reason = run.reason;
      if (!run.ok()) return runs;
      runs.timing.push_back(run);
    }
    const SnapshotRun& last = runs.timing.back();
    if (last.figure("takes_snapshot") != 0 && last.figure("checked_elements") == 0) {
      // Only its child sees the snapshot, and compares it where no time is measured.
      const SnapshotRun compared = once(SnapshotPass::kMemory);
      runs.status = compared.status;
      runs.reason = compared.reason;
      if (!compared.ok()) return runs;
    }
    const SnapshotRun cpu = once(SnapshotPass::kCpuTime);
    runs.cpu_time = cpu.ok() ? cpu_time_json(cpu) : not_available(cpu.reason);
    runs.faults = swept_faults(once(SnapshotPass::kFaults));
    return runs;
  }

 private:
  [[nodiscard]] SnapshotRun once(SnapshotPass pass) const {
    if (stop_()) return {};
    const auto timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan_.timeout_s));
    try {
      return run_snapshot(plan_.allocator, library_, row_.alternative.name, row_.parameters, pass, timeout, stop_);
    } catch (const MachineError& failure) {
      SnapshotRun run;
      run.status = "failed";
      run.reason = failure.what();
      return run;
    }
  }

  const SweepPlan& plan_;
  const SweepRow& row_;
  const std::string& library_;
  const std::function<bool()>& stop_;
};

}  // namespace

std::vector<SweepRuns> run_sweep(const SweepPlan& plan, const std::function<bool()>& stop) {
  std::vector<SweepRuns> all(plan.rows.size());
  std::uint64_t most = 0;
  double weight = 0;
  for (const SweepRow& row : plan.rows) {
    most = std::max(most, row.parameters.sizes * row.parameters.array_bytes);
    weight += sweep_weight(row);
  }
  // The host of a virtual machine backs memory at its first touch, which is slow.
  if (!warm_up_memory(most, stop_requested)) return all;
  const std::string library = library_to_preload(plan.allocator).value_or("");
  Progress progress("sweeping", plan.rows.size(), weight);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const SweepRow& row = plan.rows[i];
    progress.show(fmt::format("{}, {} of {}, {} and {}", row.alternative.name, format_size(row.parameters.batch_bytes),
                              format_size(row.parameters.array_bytes), format_counted(row.parameters.writers, "writer"),
                              format_counted(row.parameters.checkpointers, "checkpointer")));
    SweepRuns runs = SweepRowRuns(plan, row, library, stop).take();
    if (stop()) return all;
    all[i] = std::move(runs);
    progress.advance(sweep_weight(row));
  }
  return all;
}

}  // namespace zerotax::snapshot
