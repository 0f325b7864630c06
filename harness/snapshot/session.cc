#include "snapshot/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "core/interrupt.h"
#include "core/probe_identity.h"
#include "core/progress.h"
#include "os/memory.h"

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

bool run_snapshots(const SnapshotPlan& plan, const TakeSnapshot& take, const std::function<bool()>& stop) {
  // The host of a virtual machine backs memory at its first touch, which is slow.
  if (!warm_up_memory(plan.sizes() * plan.parameters.array_bytes, stop_requested)) return false;
  std::vector<std::string> libraries;
  for (const Allocator& allocator : plan.allocators) libraries.push_back(library_to_preload(allocator).value_or(""));
  const std::size_t columns = plan.alternatives.size();
  std::vector<Pair> pairs(plan.allocators.size() * columns);
  const std::vector<Round> all = rounds(plan.repeat);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(plan.timeout_s));
  Progress progress("measuring snapshots", all.size() * pairs.size(), static_cast<double>(all.size() * pairs.size()));
  for (const Round& round : all) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const SnapshotStep step{i / columns, i % columns, round.pass, round.held};
      Pair& pair = pairs[i];
      if (pair.wanted && (!round.held || pair.has_child)) {
        const Allocator& allocator = plan.allocators[step.allocator];
        const SnapshotAlternative& alternative = plan.alternatives[step.alternative];
        const std::string& name = alternative.name;
        progress.show(fmt::format("{} of {} under {}", name_of(round), name, allocator.name));
        SnapshotParameters parameters = plan.parameters_of(alternative);
        if (round.held) parameters.hold = 1;
        SnapshotRun run;
        try {
          run = run_snapshot(allocator, libraries[step.allocator], name, parameters, round.pass, timeout, stop);
        } catch (const MachineError& failure) {
          run.status = "not_watched";
          run.reason = failure.what();
        }
        if (stop && stop()) return false;
        pair.has_child = pair.has_child || run.figure("child") != 0;
        pair.wanted = take(step, run);
      }
      progress.advance(1);
    }
  }
  return true;
}

}  // namespace zerotax::snapshot
