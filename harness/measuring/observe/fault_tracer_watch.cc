// Watches the traced processes, and bounds the faults that the tracer missed.

#include <algorithm>
#include <utility>

#include "observe/fault_tracer.h"
#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

/// Maximum time between an exec and the moment when the kernel either ends the watch or maps the program.
constexpr std::uint64_t kDecidedNs = 5'000'000;

}  // namespace

bool FaultTracer::is_undecided() const {
  const auto now = static_cast<std::uint64_t>(monotonic_ns());
  return std::any_of(executing_.begin(), executing_.end(),
                     [&](const auto& each) { return now < each.second + kDecidedNs; });
}

/// Watches processes again if the kernel stopped watching them at an exec. Pending events after the first `known` ones
/// are new, and unordered between CPUs.
void FaultTracer::notice_execs(std::size_t known) {
  for (std::size_t i = known; i < pending_.size(); ++i) {
    if (pending_[i].kind != FaultEvent::Kind::kExec) continue;
    std::uint64_t& exec_ns = executing_[pending_[i].pid];
    exec_ns = std::max(exec_ns, pending_[i].time_ns);
  }
  std::vector<pid_t> lost;
  std::erase_if(executing_, [&](const auto& executing) {
    const auto [pid, exec_ns] = executing;
    const FaultEvent* next = nullptr;
    for (const FaultEvent& event : pending_) {
      const bool other = event.pid != pid || event.kind == FaultEvent::Kind::kThreadExit;
      if (other || event.time_ns <= exec_ns || (next != nullptr && next->time_ns <= event.time_ns)) continue;
      next = &event;
    }
    if (next != nullptr && next->kind == FaultEvent::Kind::kExit) lost.push_back(pid);
    return next != nullptr;
  });
  for (const pid_t pid : lost) resume(pid);
}

void FaultTracer::resume(pid_t pid) {
  Resumed& resumed = lost_watch_[pid];
  // Processes that this process has started since its exec are not watched either.
  for (const pid_t each : process_tree(pid)) {
    if (!events_->follow(each)) continue;
    if (each != pid && !processes_.contains(each)) {
      Process& process = start(each, pid);
      process.told.name = process_name(each);
      process.shares = true;
      read_space(process, false);
    }
    if (each != pid) continue;
    resumed.mappings = process_mappings(pid);
    if (const auto facts = process_facts(pid)) resumed.faults = facts->faults;
  }
}

/// Handles a process that still runs although the kernel stopped watching it.
void FaultTracer::apply_lost_watch(Process& process) {
  const pid_t pid = process.told.pid;
  Resumed resumed = std::move(lost_watch_[pid]);
  lost_watch_.erase(pid);
  for (ProcessMapping& mapping : resumed.mappings) process.space.map(region_of(std::move(mapping)));
  UnwatchedProcess unwatched{pid, process.told.name, resumed.faults};
  const std::uint64_t seen = sampling_ ? 0 : process.recorded;
  if (unwatched.faults) *unwatched.faults -= std::min(*unwatched.faults, seen);
  process.recorded += unwatched.faults.value_or(0);
  if (counted(process)) unwatched_.push_back(std::move(unwatched));
}

/// Handles the end of a process's main thread, and of threads that end later.
void FaultTracer::apply_exit(Process& process, const FaultEvent& event) {
  const pid_t pid = process.told.pid;
  if (event.kind == FaultEvent::Kind::kExit && lost_watch_.contains(pid)) {
    apply_lost_watch(process);
    return;
  }
  // After a main thread ends, the kernel needs some time to free the memory of the process.
  if (living_thread(pid) != pid && process_memory(pid, false).vsz) {
    process.main_thread_ended = true;
    return;
  }
  if (process.alive) note_change(process, event.time_ns, false);
  process.alive = false;
  sharing_.end(pid);
  python_.erase(pid);
  pagemaps_.forget(pid);
  looked_for_huge_.erase(pid);
}

/// Call this after tracing has ended.
void FaultTracer::bound_counts(FaultData& data) const {
  const bool software = !data.every_fault;
  const bool sampled = sampling_.has_value();
  const bool incomplete = sampled || data.lost > 0;
  const SystemCallPages seen = pairing_.in_system_calls();
  if (!software && !incomplete) data.in_system_calls = seen;
  if (!software && !incomplete && unwatched_.empty() && seen.copies == 0) return;
  std::uint64_t unseen = incomplete && handled_ > recorded_ ? handled_ - recorded_ : 0;
  bool known = true;
  for (const UnwatchedProcess& each : unwatched_) {
    unseen += each.faults.value_or(0);
    known = known && each.faults;
  }
  const auto bounds = [&](std::uint64_t recorded, std::uint64_t possible, std::uint64_t in_system_calls) {
    CountBounds found{software ? 0 : recorded, std::nullopt};
    // The number of allocations that were neither recorded nor part of a fault has no upper bound.
    const bool unbounded = !known || (incomplete && in_system_calls > 0);
    if (!unbounded) found.at_most = (software ? possible : recorded + in_system_calls) + unseen;
    return found;
  };
  const std::uint64_t merged = merges_ || merges_pages() ? possible_.copies_if_merged : 0;
  data.bounds = {bounds(recorded_counts_.copies, possible_.copies + merged, seen.copies),
                 bounds(recorded_counts_.zero_fills, possible_.zero_fills, seen.zero_fills)};
}

}  // namespace zerotax
