#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/fault.h"
#include "observe/frame.h"
#include "point/plan.h"
#include "snapshot/plan.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// The kind of measurement in one run.
enum class SnapshotPass {
  kTiming,   ///< clocks only
  kMemory,   ///< memory in use
  kFaults,   ///< each fault, by its class
  kProfile,  ///< samples of the CPU
  kCpuTime,  ///< CPU time over time
};

/// A fault during the run.
struct SnapshotFault {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t address;
  pid_t pid;
  FaultClass kind;
  pid_t tid = 0;
};

/// A CPU sample of the run.
struct SnapshotSample {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  pid_t pid;
  Stack stack;
};

/// The outcome of a run. kNotWatched appears in no document.
enum class Status {
  kOk,
  kWrong,  ///< an element of the snapshot is not what the array contained at the instant of the snapshot
  kFailed,
  kCrashed,
  kTimeout,
  kSkipped,     ///< the alternative is unavailable on this machine, or was not run
  kNotWatched,  ///< this machine does not permit the pass
};
ENUM_WORDS(Status, "ok", "wrong", "failed", "crashed", "timeout", "skipped", "not watched")
inline constexpr Limit kStatusWords = one_of("ok|wrong|failed|crashed|timeout|skipped");

/// The result of one run. If the status is not kOk, the other fields are empty.
struct SnapshotRun {
  Status status = Status::kSkipped;
  std::string reason;
  RunMetrics metrics;
  std::vector<SnapshotFault> faults;    ///< kFaults
  bool every_fault = false;             ///< as in FaultData
  std::uint64_t lost = 0;               ///< number of lost events or samples
  std::vector<SnapshotSample> samples;  ///< for kProfile
  std::vector<CpuInterval> cpu_time;    ///< for kCpuTime: the CPU time from the start to each sample
  unsigned hz = 0;
  bool sees_kernel = false;

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
};

/// Runs the program once. The status and reason of the result describe failures. `library` is preloaded unless it is
/// empty; `stop` is as in run_child. Throws MachineError if the pass is impossible on this machine.
SnapshotRun run_snapshot(const Allocator& allocator, const std::string& library, const std::string& alternative,
                         const SnapshotParameters& parameters, SnapshotPass pass, std::chrono::milliseconds timeout,
                         const std::function<bool()>& stop);

}  // namespace zerotax::snapshot
