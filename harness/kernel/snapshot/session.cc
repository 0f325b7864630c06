#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/units.h"
#include "os/numa_nodes.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"
#include "snapshot/runs.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

struct Round {
  SnapshotPass pass;
  bool held;
};

/// Fewer rounds are enough for held runs, which measure CPU times. CPU times are steadier than times for which writers
/// and a child compete.
constexpr unsigned kMostHeldRounds = 3;

std::vector<Round> rounds(unsigned repeat) {
  std::vector<Round> all(repeat, {SnapshotPass::kTiming, false});
  all.insert(all.end(), std::min(repeat, kMostHeldRounds), {SnapshotPass::kTiming, true});
  for (const Round& round : {Round{SnapshotPass::kMemory, false}, Round{SnapshotPass::kCpuTime, false},
                             Round{SnapshotPass::kFaults, false}, Round{SnapshotPass::kFaults, true},
                             Round{SnapshotPass::kProfile, false}, Round{SnapshotPass::kProfile, true}}) {
    all.push_back(round);
  }
  return all;
}

const char* name_of(const Round& round) {
  switch (round.pass) {
    case SnapshotPass::kMemory:
      return "its memory";
    case SnapshotPass::kFaults:
      return round.held ? "its faults after the child's end" : "its faults";
    case SnapshotPass::kProfile:
      return round.held ? "its kernel time after the child's end" : "its kernel time";
    case SnapshotPass::kCpuTime:
      return "its CPU time over time";
    case SnapshotPass::kTiming:
      break;
  }
  return round.held ? "its CPU time after the child's end" : "its time";
}

/// State of the runs of one allocator with one alternative.
struct Pair {
  bool wanted = true;
  bool has_child = false;
};

Item item_of(std::string label, std::uint64_t memory_bytes, double seconds, const std::function<void()>& measure) {
  Item item;
  item.label = std::move(label);
  item.memory_bytes = memory_bytes;
  item.seconds = seconds;
  item.measure = [measure](const Say&) { measure(); };
  return item;
}

/// Makes one run. `library` is preloaded unless it is empty.
SnapshotRun run_step(const SnapshotPlan& plan, const SnapshotStep& step, const std::string& library) {
  const SnapshotAlternative& alternative = plan.alternatives[step.alternative];
  SnapshotParameters parameters = plan.parameters_of(alternative);
  if (step.held) parameters.hold = 1;
  const auto timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
  try {
    return run_snapshot(plan.allocators[step.allocator], library, alternative.name, parameters, step.pass, timeout,
                        stop_requested);
  } catch (const MachineError& failure) {
    SnapshotRun run;
    run.status = Status::kNotWatched;
    run.reason = failure.what();
    return run;
  }
}

SweptRow row_of(const SnapshotPlan& plan, const Result& of) {
  SweptRow row;
  static_cast<SnapshotParameters&>(row) = plan.parameters_of(plan.alternatives.front());
  row.alternative = plan.alternatives.front().name;
  row.status = of.status;
  row.reason = of.reason;
  row.runs = of.runs;
  row.writers_wall_ns = of.writers_wall_ns;
  row.copy_ns = of.snapshot_ns;
  row.child_end_ns = of.child_end_ns;
  row.writers_user_ns = of.writers_user_ns;
  row.writers_system_ns = of.writers_system_ns;
  row.copy_done_first_runs = of.copy_done_first_runs;
  row.cpu_time = of.cpu_time;
  if (of.faults) {
    row.faults = SweptFaults{*of.faults, of.faults->pages};
  } else {
    row.faults = NotAvailable{of.faults.why()};
  }
  row.placed = of.placed;
  return row;
}

SweptRow empty_row(const SnapshotPlan& plan) {
  Result none;
  static_cast<Figures&>(none) = no_figures(kNotFinished);
  none.reason = kNotFinished;
  return row_of(plan, none);
}

/// Makes all runs of a row. Throws Stop.
SweptRow measured_row(const SnapshotPlan& plan, const std::string& library) {
  SnapshotRuns runs(plan);
  const auto once = [&](SnapshotPass pass) {
    end_if_stopped();
    const SnapshotStep step{0, 0, pass, false};
    SnapshotRun run = run_step(plan, step, library);
    // A row is valid only if its times were measured and its snapshot was verified.
    const bool checks = pass == SnapshotPass::kMemory;
    const bool needed = checks || pass == SnapshotPass::kTiming;
    if ((needed && run.status == Status::kNotWatched) || (checks && run.status == Status::kTimeout)) {
      run.status = Status::kFailed;
    }
    return runs.take(step, run);
  };
  bool further = true;
  for (unsigned i = 0; i < plan.repeat && further; ++i) further = once(SnapshotPass::kTiming);
  // If only the child sees the snapshot, the child verifies it in a run without timing.
  const Result timed = runs.result_of(0, 0);
  if (further && timed.snapshot_ns && !timed.checked_elements) further = once(SnapshotPass::kMemory);
  if (further && once(SnapshotPass::kCpuTime)) once(SnapshotPass::kFaults);
  return row_of(plan, runs.result_of(0, 0));
}

}  // namespace

Snapshot run_snapshots(const SnapshotPlan& plan) {
  std::vector<std::string> libraries;
  for (const Allocator& allocator : plan.allocators) libraries.push_back(library_to_preload(allocator).value_or(""));
  const std::size_t columns = plan.alternatives.size();
  std::vector<Pair> pairs(plan.allocators.size() * columns);
  const std::vector<Round> all = rounds(plan.repeat);
  SnapshotRuns runs(plan);
  Experiment experiment("measuring snapshots", {0, true, {}});
  const auto turns = static_cast<unsigned>(all.size());
  const auto item = [&](unsigned turn, std::size_t i) {
    const SnapshotStep step{i / columns, i % columns, all[turn].pass, all[turn].held};
    const auto measure = [&, step, i] {
      Pair& pair = pairs[i];
      if (!pair.wanted || (step.held && !pair.has_child)) return;
      const SnapshotRun run = run_step(plan, step, libraries[step.allocator]);
      end_if_stopped();
      pair.has_child = pair.has_child || run.metrics.child != 0;
      pair.wanted = runs.take(step, run);
    };
    return item_of(fmt::format("{} of {} under {}", name_of(all[turn]), plan.alternatives[step.alternative].name,
                               plan.allocators[step.allocator].name),
                   plan.sizes() * plan.parameters.array_bytes, 1, measure);
  };
  return runs.result(experiment.run(in_rounds(turns, pairs.size(), Rounds::kForward, item)));
}

Sweep run_sweep(const SweepAxes& axes, const std::vector<SnapshotPlan>& rows) {
  const Allocator& allocator = rows.front().allocators.front();
  Sweep sweep;
  sweep.schema = "zerotax.snapshot_sweep/1";
  sweep.zerotax_version = ZEROTAX_VERSION;
  sweep.allocator = entry_of(allocator);
  sweep.repeat = rows.front().repeat;
  static_cast<SweepAxes&>(sweep.axes) = axes;
  sweep.axes.placement = NotAvailable{"this machine has one NUMA node"};
  if (numa_nodes().size() > 1) sweep.axes.placement = axes.placement;
  const std::string library = library_to_preload(allocator).value_or("");
  std::vector<Item> items;
  sweep.rows.reserve(rows.size());
  for (const SnapshotPlan& plan : rows) {
    SweptRow& row = sweep.rows.emplace_back(empty_row(plan));
    items.push_back(item_of(fmt::format("{}, {} of {}, {} and {}", row.alternative, format_size(row.batch_bytes),
                                        format_size(row.array_bytes), format_counted(row.writers, "writer"),
                                        format_counted(row.checkpointers, "checkpointer")),
                            row.sizes * row.array_bytes, static_cast<double>(row.array_bytes) * (1.0 + row.passes),
                            [&plan, &library, &row] {
                              SweptRow measured = measured_row(plan, library);
                              end_if_stopped();
                              row = std::move(measured);
                            }));
  }
  Experiment experiment("sweeping", {0, true, {}});
  sweep.state = completion(experiment.run(items));
  return sweep;
}

}  // namespace zerotax::snapshot
