#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/fault_tracer.h"

namespace zerotax::cow {

struct CowRun {
  FaultData data;
  pid_t pid = 0;
  double wall_s = 0;
  int exit_status = 0;
  std::optional<std::uint64_t> minor_faults;  ///< the kernel's count (ForegroundResult::all_minor_faults)
};

/// Runs a program to its end and follows its faults. Throws UsageError if the program cannot be started, and
/// MachineError if faults cannot be watched.
CowRun cow_command(const std::vector<std::string>& words, FaultTracerOptions options);

/// Follows a running process and its descendants. Returns when the process ends, when a signal interrupts zerotax,
/// after `seconds` (0 for no limit), or when `stop` returns true. Throws UsageError if the process does not exist.
CowRun cow_process(pid_t pid, FaultTracerOptions options, double seconds, const std::function<bool()>& stop);

}  // namespace zerotax::cow
