// Computes CPU time that samples do not show, from the threads' own clocks. Also counts the samples of page faults, and
// adopts processes that were started by no sampled process.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "observe/profile_recorder.h"
#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

const Frame& kernel_frame() {
  static const Frame frame{kKernelNotSampled, "kernel"};
  return frame;
}

/// Returns the number of samples that a time corresponds to.
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

/// Divides the rounds that found a thread running into rounds in kernel mode and in user mode, in the ratio of the
/// thread's CPU times in these modes. The rounds of user mode are divided among the stacks sampled there, by their
/// numbers of samples.
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
  // The thread ran for less than a tick, or was never sampled, so the division of its time is unknown.
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

/// Counts the threads that were found running and have not been sampled since.
void ProfileRecorder::count_running() {
  for (const auto& [thread, running] : running_) {
    if (running.looks == 0) continue;
    const bool sampled = !running.stack.empty();
    count(thread, sampled ? running.stack : Stack{{running.program, ""}, {kNeverSampled, ""}},
          sampled ? running.kinds : SampleKinds{}, running.looks);
  }
}

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

/// Scales the sampled faults to the count of the perf event. Samples represent whole periods, and some samples may be
/// lost, but the event itself counts every fault. If CPUs are sampled, the count includes faults of all processes, so
/// the faults are not scaled.
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

/// Returns whether there is time to unwind another sample. Unwinding the first sample of a program takes 10 ms, and a
/// build starts hundreds of programs a second. To limit the load on the system, the recorder's thread takes at most two
/// seconds plus half of the elapsed time. After the end of sampling, this limit no longer grows. Samples are skipped
/// without regard to their contents.
bool ProfileRecorder::has_time() {
  constexpr std::int64_t kFirstNs = 2'000'000'000;
  if (!options_.faults) return true;
  const std::int64_t now = finished_ns_ != 0 ? finished_ns_.load() : monotonic_ns();
  if (work_began_ns_ == 0) work_began_ns_ = now;
  if (thread_cpu_ns() <= kFirstNs + (now - work_began_ns_) / 2) return true;
  ++skipped_;
  return false;
}

/// Reports a change to the listener. Most events of a CPU come from other processes, and are not reported.
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

ProfileRecorder::Process* ProfileRecorder::known(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return &found->second;
  // Most events of a CPU come from processes that are not sampled.
  if (sampler_.samples_cpus()) return options_.scope.is_open() ? join(pid) : nullptr;
  Process& process = processes_[pid];
  process.name = kUnnamedProgram;
  process.unwinder = std::make_shared<Unwinder>(pid);
  process.threads = kManyThreads;
  return &process;
}

/// Adopts a process that an unsampled process started, before its first sample is applied. The process's mappings can
/// be read only while the process lives.
ProfileRecorder::Process* ProfileRecorder::join(std::uint32_t pid) {
  if (strangers_.contains(pid)) return nullptr;
  const auto facts = process_facts(static_cast<pid_t>(pid));
  if (pid == 0 || pid == static_cast<std::uint32_t>(::getpid()) || (facts && facts->kernel_thread)) {
    strangers_.insert(pid);
    return nullptr;
  }
  Process& process = processes_[pid];
  const std::string name = process_name(static_cast<pid_t>(pid));
  process = {name.empty() ? kUnnamedProgram : name, std::make_shared<Unwinder>(pid), kManyThreads, true};
  map_process(static_cast<pid_t>(pid), *process.unwinder);
  return &process;
}

}  // namespace zerotax
