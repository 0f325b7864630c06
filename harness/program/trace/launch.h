#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax::trace {

struct TraceLaunch {
  std::vector<std::string> words;  ///< command to run
  std::string folder;              ///< folder for the trace; must be empty or absent
  bool functions = false;          ///< whether to preload libzerotax-functions
  /// Kernel events to record: "faults" for the events of FaultTracer, other names for kernel_event_kind.
  std::vector<std::string> kernel;
};

struct TraceRun {
  int exit_status = 0;
  std::string kernel;             ///< method by which kernel events were observed ("tracepoints, every fault"); empty
                                  ///< if they were not observed
  std::uint64_t kernel_lost = 0;  ///< events
};

/// Runs a program to its end. The recorder in the program writes into the folder. Throws UsageError if the program
/// cannot be started or the folder cannot be used. Throws MachineError if a library is missing or the kernel's events
/// cannot be recorded.
TraceRun run_traced(const TraceLaunch& launch);

}  // namespace zerotax::trace
