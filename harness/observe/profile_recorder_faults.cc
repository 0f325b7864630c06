// The recorder's samples of page faults.

#include <cmath>
#include <utility>

#include "observe/profile_recorder.h"

namespace zerotax {

void ProfileRecorder::apply_fault(const PerfEvent& event) {
  const Process& process = processes_.at(event.pid);
  Stack stack{{process.name, ""}};
  for (Frame& frame : process.unwinder->frames(event)) stack.push_back(std::move(frame));
  if (options_.faults) options_.faults->fault(event, stack, *process.unwinder);
  data_.faults[stack] += event.count;
  ++data_.fault_samples;
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

/// Of a CPU, most that happens is no concern of ours.
void ProfileRecorder::tell_change(const PerfEvent& event) {
  const bool fork = event.kind == PerfEvent::Kind::kFork;
  const bool is_change = fork || event.kind == PerfEvent::Kind::kMap || event.kind == PerfEvent::Kind::kData ||
                         event.kind == PerfEvent::Kind::kExec || event.kind == PerfEvent::Kind::kExit;
  const bool ours = !sampler_.samples_cpus() || processes_.contains(fork ? event.parent : event.pid);
  if (is_change && ours) options_.faults->change(event);
}

}  // namespace zerotax
