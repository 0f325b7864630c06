// The recorder's samples of page faults.

#include <cmath>
#include <utility>

#include "observe/profile_recorder.h"
#include "os/clock.h"

namespace zerotax {

void ProfileRecorder::apply_fault(const PerfEvent& event) {
  const Process& process = processes_.at(event.pid);
  Stack stack{{process.name, ""}};
  for (Frame& frame : process.unwinder->frames(event)) stack.push_back(std::move(frame));
  if (options_.faults) options_.faults->fault(event, stack, *process.unwinder);
  data_.faults[stack] += event.count;
  ++data_.fault_samples;
}

void ProfileRecorder::apply_return(const PerfEvent& event) {
  const Process& process = processes_.at(event.pid);
  Stack stack{{process.name, ""}};
  for (Frame& frame : process.unwinder->frames(event)) stack.push_back(std::move(frame));
  options_.faults->returned(event, stack, *process.unwinder);
}

/// Samples stand for whole periods, some may be lost, and the event itself has counted every fault. Where CPUs are
/// sampled, that has every process's.
void ProfileRecorder::scale_faults() {
  const std::uint64_t counted = faults_counted_ - faults_before_;
  std::uint64_t sum = 0;
  for (const auto& [stack, count] : data_.faults) sum += count;
  if (sum == 0 || counted == 0 || sampler_.samples_cpus()) return;
  const double scale = static_cast<double>(counted) / static_cast<double>(sum);
  std::uint64_t passed = 0;
  std::uint64_t given = 0;
  for (auto& [stack, count] : data_.faults) {
    passed += count;
    const auto due = static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(passed)));
    count = due - std::exchange(given, due);
  }
}

/// Unwinding the first sample of a program takes 10 ms, and a build starts hundreds a second. Whoever watches a running
/// system must not use more of it: the recorder's thread takes half of the time that has passed, after two seconds, and
/// no more when that is over. Which samples it skips does not depend on what they are.
bool ProfileRecorder::has_time() {
  constexpr std::int64_t kFirstNs = 2'000'000'000;
  if (!options_.faults) return true;
  const std::int64_t now = finished_ns_ != 0 ? finished_ns_.load() : monotonic_ns();
  if (work_began_ns_ == 0) work_began_ns_ = now;
  if (thread_cpu_ns() <= kFirstNs + (now - work_began_ns_) / 2) return true;
  ++skipped_;
  return false;
}

/// Of a CPU, most that happens is no concern of ours.
void ProfileRecorder::tell_change(const PerfEvent& event) {
  const bool fork = event.kind == PerfEvent::Kind::kFork;
  const bool is_change = fork || event.kind == PerfEvent::Kind::kMap || event.kind == PerfEvent::Kind::kData ||
                         event.kind == PerfEvent::Kind::kExec || event.kind == PerfEvent::Kind::kExit;
  if (!is_change) return;
  const std::uint32_t pid = fork ? event.parent : event.pid;
  const bool joins = options_.scope.is_open() && event.kind != PerfEvent::Kind::kExit;
  const bool ours = !sampler_.samples_cpus() || (joins ? known(pid) != nullptr : processes_.contains(pid));
  if (ours) options_.faults->change(event);
}

}  // namespace zerotax
