#include "snapshot/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax::snapshot {
namespace {

struct Round {
  SnapshotPass pass;
  bool held;
};

/// CPU times are steadier than times that writers and a child compete for.
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

/// What is known of an allocator with an alternative so far.
struct Pair {
  bool wanted = true;
  bool has_child = false;
};

}  // namespace

unsigned SnapshotPlan::sizes() const {
  unsigned most = 0;
  for (const SnapshotAlternative& alternative : alternatives) most = std::max(most, parameters_of(alternative).sizes);
  return most;
}

bool run_snapshots(const SnapshotPlan& plan, const TakeSnapshot& take) {
  std::vector<std::string> libraries;
  for (const Allocator& allocator : plan.allocators) libraries.push_back(library_to_preload(allocator).value_or(""));
  const std::size_t columns = plan.alternatives.size();
  std::vector<Pair> pairs(plan.allocators.size() * columns);
  const std::vector<Round> all = rounds(plan.repeat);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
  const auto measure = [&](const SnapshotStep& step) {
    SnapshotParameters parameters = plan.parameters_of(plan.alternatives[step.alternative]);
    if (step.held) parameters.hold = 1;
    try {
      return run_snapshot(plan.allocators[step.allocator], libraries[step.allocator],
                          plan.alternatives[step.alternative].name, parameters, step.pass, timeout, stop_requested);
    } catch (const MachineError& failure) {
      SnapshotRun run;
      run.status = Status::kNotWatched;
      run.reason = failure.what();
      return run;
    }
  };
  Experiment experiment("measuring snapshots", {0, true, {}});
  const auto turns = static_cast<unsigned>(all.size());
  return experiment.run(in_rounds(turns, pairs.size(), Rounds::kForward, [&](unsigned turn, std::size_t i) {
    const SnapshotStep step{i / columns, i % columns, all[turn].pass, all[turn].held};
    Item item;
    item.label = fmt::format("{} of {} under {}", name_of(all[turn]), plan.alternatives[step.alternative].name,
                             plan.allocators[step.allocator].name);
    item.memory_bytes = plan.sizes() * plan.parameters.array_bytes;
    item.measure = [&, step, i](const Say&) {
      Pair& pair = pairs[i];
      if (!pair.wanted || (step.held && !pair.has_child)) return;
      const SnapshotRun run = measure(step);
      end_if_stopped();
      pair.has_child = pair.has_child || run.figure("child") != 0;
      pair.wanted = take(step, run);
    };
    return item;
  }));
}

}  // namespace zerotax::snapshot
