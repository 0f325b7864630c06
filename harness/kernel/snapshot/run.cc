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

constexpr std::size_t kLargeBuffer = std::size_t{64} << 20;  ///< for each CPU
constexpr unsigned kHz = 1999;                               // does not divide the timer's rate

/// Copies the block that the program wrote into `run`. Returns false if the program did not reach its end.
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

/// All buffers together may have a sixteenth of the memory.
std::size_t most_buffer_bytes() {
  return read_memory_state().usable() / 16 / static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF));
}

/// Runs the program with each of its faults traced, through buffers of so many bytes for each CPU (0: the usual).
ChildResult run_traced(const ChildCommand& command, std::size_t buffer_bytes, const std::function<bool()>& stop,
                       SnapshotRun& run) {
  run.faults.clear();
  FaultTracerOptions options;
  options.interval_s = 3600;  // each fault is reported: intervals are not needed
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

/// Runs the program with what the pass watches it by.
ChildResult run_watched(const ChildCommand& command, SnapshotPass pass, const std::function<bool()>& stop,
                        SnapshotRun& run) {
  if (pass == SnapshotPass::kFaults) {
    ChildResult child = run_traced(command, 0, stop, run);
    // The program has more threads than there are CPUs, and the tracer's waits for one of them. Only root gets more
    // room.
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

struct StatusName {
  Status status;
  const char* name;
};
constexpr StatusName kStatusNames[] = {{Status::kOk, "ok"},           {Status::kWrong, "wrong"},
                                       {Status::kFailed, "failed"},   {Status::kCrashed, "crashed"},
                                       {Status::kTimeout, "timeout"}, {Status::kSkipped, "skipped"}};

}  // namespace

const char* status_name(Status status) {
  for (const StatusName& each : kStatusNames) {
    if (each.status == status) return each.name;
  }
  return "not watched";
}

Status status_of(const std::string& word) {
  for (const StatusName& each : kStatusNames) {
    if (word == each.name) return each.status;
  }
  throw std::invalid_argument("unknown status " + word);
}

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
