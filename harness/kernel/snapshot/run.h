#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observe/fault.h"
#include "observe/frame.h"
#include "point/plan.h"
#include "snapshot/plan.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// What one run measures.
enum class SnapshotPass {
  kTiming,   ///< nothing but clocks
  kMemory,   ///< what memory is used
  kFaults,   ///< each fault by its class
  kProfile,  ///< samples of the CPU
  kCpuTime,  ///< CPU time over time
};

/// A fault of the run.
struct SnapshotFault {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t address;
  pid_t pid;
  FaultClass kind;
  pid_t tid = 0;
};

/// A sample of the run.
struct SnapshotSample {
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  pid_t pid;
  Stack stack;
};

/// How a run ended. The last one is in no document.
enum class Status {
  kOk,
  kWrong,  ///< an element of the snapshot did not have its value at that instant
  kFailed,
  kCrashed,
  kTimeout,
  kSkipped,     ///< it cannot be done here, or was not run
  kNotWatched,  ///< this machine does not permit the pass
};

/// "ok", "wrong", ... in documents and tables, and the other way round. Throws std::invalid_argument for another word.
const char* status_name(Status status);
Status status_of(const std::string& word);

/// The result of one run. With a status other than kOk the rest is empty.
struct SnapshotRun {
  Status status = Status::kSkipped;
  std::string reason;
  RunMetrics metrics;
  std::vector<SnapshotFault> faults;    ///< kFaults
  bool every_fault = false;             ///< as FaultData
  std::uint64_t lost = 0;               ///< events, or samples
  std::vector<SnapshotSample> samples;  ///< kProfile
  std::vector<CpuInterval> cpu_time;    ///< kCpuTime: so far
  unsigned hz = 0;
  bool sees_kernel = false;

  [[nodiscard]] bool ok() const { return status == Status::kOk; }
};

/// Runs the program once. Its status and reason say what went wrong. `library` is preloaded unless it is empty; `stop`
/// as in run_child. Throws MachineError if the pass cannot be carried out here at all.
SnapshotRun run_snapshot(const Allocator& allocator, const std::string& library, const std::string& alternative,
                         const SnapshotParameters& parameters, SnapshotPass pass, std::chrono::milliseconds timeout,
                         const std::function<bool()>& stop);

}  // namespace zerotax::snapshot
