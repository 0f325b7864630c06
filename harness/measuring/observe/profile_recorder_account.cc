#include <algorithm>
#include <cmath>
#include <utility>

#include "observe/profile_recorder.h"

// Where the kernel's time may not be sampled: how much it was, by the threads' own clocks.
namespace zerotax {
namespace {

const Frame& kernel_frame() {
  static const Frame frame{kKernelNotSampled, "kernel"};
  return frame;
}

/// Samples that a time would have had.
std::uint64_t samples_of(std::int64_t ns, unsigned hz) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(std::max<std::int64_t>(ns, 0)) * hz / 1e9));
}

SampleKinds kinds_of(Fill fill) {
  SampleKinds kinds;
  kinds.zeros = fill == Fill::kZeros ? 1 : 0;
  kinds.other_bytes = fill == Fill::kOther ? 1 : 0;
  return kinds;
}

}  // namespace

void ProfileRecorder::read_clocks() {
  for (const auto& [pid, process] : processes_) {
    if (!process.started) continue;
    clock_.look(static_cast<pid_t>(pid));
    clocked_[pid] = process.name;
  }
}

void ProfileRecorder::add_accounted(const ThreadId& thread, const std::string& program, Frame where,
                                    std::uint64_t samples) {
  count(thread, {{program, ""}, std::move(where)}, {}, samples);
  data_.accounted += samples;
}

void ProfileRecorder::account() {
  if (options_.wall) {
    for (const auto& [thread, running] : running_) divide_looks(thread, running);
    return;
  }
  for (const auto& [thread, times] : clock_.used()) {
    const std::string& program = clocked_[thread.first];
    add_accounted(thread, program, kernel_frame(), samples_of(times.system_ns, options_.hz));
    if (data_.denied.empty()) continue;
    add_accounted(thread, program, {kUserNotSampled, ""}, samples_of(times.user_ns, options_.hz));
  }
}

/// Looks that found a thread running are the kernel's and the program's as its CPU time is; the program's are where it
/// was sampled in user mode, each place as often as it was.
void ProfileRecorder::divide_looks(const ThreadId& thread, const Running& running) {
  const ThreadTimes used = clock_.used(thread);
  const std::int64_t all_ns = used.user_ns + used.system_ns;
  std::uint64_t rest = running.looks;
  if (all_ns > 0) {
    const double share = static_cast<double>(used.system_ns) / static_cast<double>(all_ns);
    const auto kernel = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(running.looks)));
    add_accounted(thread, running.program, kernel_frame(), kernel);
    rest -= kernel;
  }
  std::uint64_t samples = 0;
  for (const auto& [fill, stacks] : running.sampled) {
    for (const auto& [stack, sampled] : stacks) samples += sampled;
  }
  // It ran for less than a tick, or was never sampled: how its time is divided is not known.
  if (all_ns <= 0 || samples == 0) {
    const bool denied = !data_.denied.empty() && all_ns > 0;
    return add_accounted(thread, running.program, {denied ? kUserNotSampled : kNeverSampled, ""}, rest);
  }
  std::uint64_t passed = 0;
  std::uint64_t given = 0;
  for (const auto& [fill, stacks] : running.sampled) {
    for (const auto& [stack, sampled] : stacks) {
      passed += sampled;
      const std::uint64_t due = rest * passed / samples;
      count(thread, stack, kinds_of(fill), due - given);
      given = due;
    }
  }
}

}  // namespace zerotax
