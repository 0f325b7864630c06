#include "snapshot/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/error.h"
#include "files/shared_file.h"
#include "observe/fault_tracer.h"
#include "observe/profile_recorder.h"
#include "os/child.h"
#include "os/machine_trouble.h"
#include "os/memory.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/experiment.h"
#include "run/helper_program.h"

namespace zerotax::snapshot {
namespace {

constexpr std::size_t kLargeBuffer = std::size_t{64} << 20;  ///< bytes for each CPU
constexpr unsigned kHz = 1999;                               // frequency that does not divide the timer's rate

/// Copies the RunBlock of the program to `run`. Returns false if the program did not reach its end.
bool take_block(const RunBlock& block, SnapshotRun& run) {
  if (block.end == RunBlock::End::kNone) return false;
  run.metrics = block.metrics;
  run.cpu_time.assign(&block.cpu[0], &block.cpu[std::min(block.cpu_samples, RunBlock::kMostSamples)]);
  run.status = block.end == RunBlock::End::kDone ? Status::kOk : Status::kSkipped;
  if (run.status == Status::kSkipped) run.reason = &block.reason[0];
  if (block.metrics.wrong_elements == 0) return true;
  run.status = Status::kWrong;
  run.reason = fmt::format("{} of {} elements differ from the instant of the snapshot, the first is {}",
                           run.metrics.wrong_elements, run.metrics.checked_elements, run.metrics.first_wrong);
  return true;
}

ChildCommand command_of(const std::string& alternative, const SnapshotParameters& parameters, SnapshotPass pass) {
  ChildCommand command;
  command.program = helper_program("fork-snapshot");
  command.arguments = {"alternative=" + alternative,
                       fmt::format("array={}", parameters.array_bytes),
                       fmt::format("batch={}", parameters.batch_bytes),
                       fmt::format("writers={}", parameters.writers),
                       fmt::format("checkpointers={}", parameters.checkpointers),
                       fmt::format("passes={}", parameters.passes)};
  if (parameters.placement != "default") command.arguments.push_back("placement=" + parameters.placement);
  if (parameters.hold) command.arguments.push_back(fmt::format("hold={}", *parameters.hold));
  if (pass == SnapshotPass::kMemory) command.arguments.emplace_back("memory=1");
  if (pass == SnapshotPass::kCpuTime) command.arguments.emplace_back("cpu=1");
  if (pass == SnapshotPass::kFaults) command.arguments.emplace_back("pagemap=1");
  command.capture = true;
  command.resident_limit = resident_limit(parameters.sizes * parameters.array_bytes);
  return command;
}

/// The largest size of a CPU's buffer with which all buffers together take at most a sixteenth of the memory.
std::size_t most_buffer_bytes() {
  return read_memory_state().usable() / 16 / static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF));
}

/// Runs the program and traces each of its faults, with buffers of `buffer_bytes` for each CPU (0 for the usual size).
ChildResult run_traced(const ChildCommand& command, std::size_t buffer_bytes, const std::function<bool()>& stop,
                       SnapshotRun& run) {
  run.faults.clear();
  FaultTracerOptions options;
  options.interval_s = 3600;  // intervals are not needed, because each fault is reported
  options.buffer_bytes = buffer_bytes;
  options.each = [&](const Fault& fault, FaultClass kind) {
    run.faults.push_back({fault.begin_ns, fault.address, fault.pid, kind, fault.tid});
  };
  FaultTracer tracer(options);
  ChildResult child = run_child(command, stop);
  const FaultData data = tracer.finish();
  run.lost = data.lost;
  run.every_fault = data.every_fault;
  return child;
}

/// Runs the program, and watches it as the pass requires.
ChildResult run_watched(const ChildCommand& command, SnapshotPass pass, const std::function<bool()>& stop,
                        SnapshotRun& run) {
  if (pass == SnapshotPass::kFaults) {
    ChildResult child = run_traced(command, 0, stop, run);
    // The program has more threads than there are CPUs, so the tracer's thread waits for a CPU. Only root can use
    // larger buffers.
    for (std::size_t bytes = kLargeBuffer; run.lost > 0 && run.every_fault && bytes <= most_buffer_bytes() && !stop();
         bytes *= 4) {
      child = run_traced(command, bytes, stop, run);
    }
    return child;
  }
  if (pass == SnapshotPass::kProfile) {
    ProfileRecorder recorder(kHz, [&](const PerfEvent& event, const Stack& stack) {
      run.samples.push_back({event.time_ns, static_cast<pid_t>(event.pid), stack});
    });
    ChildResult child = run_child(command, stop);
    const ProfileData data = recorder.finish();
    run.hz = kHz;
    run.lost = data.lost;
    run.sees_kernel = data.sees_kernel && data.knows_kernel_names;
    return child;
  }
  return run_child(command, stop);
}

/// Throws std::invalid_argument for an unknown word.
Status status_of(const std::string& name) {
  const auto words = words_of(Status{});
  const auto found = std::find(words.begin(), words.end(), name);
  if (found == words.end()) throw std::invalid_argument("unknown status " + name);
  return static_cast<Status>(found - words.begin());
}

}  // namespace

SnapshotRun run_snapshot(const Allocator& allocator, const std::string& library, const std::string& alternative,
                         const SnapshotParameters& parameters, SnapshotPass pass, std::chrono::milliseconds timeout,
                         const std::function<bool()>& stop) {
  ChildCommand command = command_of(alternative, parameters, pass);
  command.timeout = timeout;
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (!library.empty()) command.environment.emplace_back("LD_PRELOAD", library);
  use_own_libraries(command, library);
  const SharedFile file("zerotax-snapshot", sizeof(RunBlock));
  command.arguments.push_back(fmt::format("result={}", file.fd()));
  command.inherited_fd = file.fd();
  SnapshotRun run;
  const ChildResult child = run_watched(command, pass, stop, run);
  const ChildVerdict verdict = judge(child, timeout);
  RunBlock block{};
  const bool written = ::pread(file.fd(), &block, sizeof block, 0) == static_cast<ssize_t>(sizeof block);
  const Status status = status_of(verdict.status);
  if (status == Status::kCrashed || status == Status::kFailed) {
    throw_if_limited(child, fmt::format("{}: {}", alternative, verdict.reason));
  }
  if (status != Status::kOk) {
    run.status = status;
    run.reason = verdict.reason;
  } else if (!written || !take_block(block, run)) {
    run.status = Status::kFailed;
    run.reason = "it left no results: " + last_line(child.errors);
  }
  return run;
}

}  // namespace zerotax::snapshot
