#pragma once

#include <string>
#include <vector>

#include "observe/fault_tracer.h"

namespace zerotax::cow {

struct CowRun {
  FaultData data;
  pid_t pid = 0;
  double wall_s = 0;
  int exit_status = 0;
};

/// Runs a program to its end and follows its faults. Throws UsageError if it cannot be started, MachineError if faults
/// cannot be watched.
CowRun cow_command(const std::vector<std::string>& words, FaultTracerOptions options);

/// Follows a running process and its descendants until it ends or we are interrupted. Throws UsageError if there is
/// no such process.
CowRun cow_process(pid_t pid, FaultTracerOptions options);

}  // namespace zerotax::cow
