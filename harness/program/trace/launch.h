#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax::trace {

struct TraceLaunch {
  std::vector<std::string> words;  ///< the command
  std::string folder;              ///< where the trace goes: is empty or does not exist
  bool functions = false;          ///< preload libzerotax-functions
  /// Events of the kernel to record: "faults" for what FaultTracer reports, and names of kernel_event_kind.
  std::vector<std::string> kernel;
};

struct TraceRun {
  int exit_status = 0;
  std::string kernel;             ///< how its events were seen ("tracepoints, every fault"); empty: not at all
  std::uint64_t kernel_lost = 0;  ///< events
};

/// Runs a program to its end; the recorder in it writes into this folder. Throws UsageError if it cannot be started or
/// the folder cannot be used, MachineError if a library is missing, or the kernel cannot be watched.
TraceRun run_traced(const TraceLaunch& launch);

}  // namespace zerotax::trace
