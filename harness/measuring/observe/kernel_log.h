#pragma once

#include <string>

#include "observe/fault.h"
#include "os/fault_events.h"

namespace zerotax {

/// Writes what the kernel does for traced processes into a trace of the recorder, beside what they record themselves:
/// kernel_page_fault, kernel_page_allocation, kernel_fork, kernel_exec, kernel_exit, each with the process and thread
/// that it is of. One in a program at a time.
class KernelLog {
 public:
  /// `folder`: of the trace. Throws MachineError if it cannot be started.
  explicit KernelLog(const std::string& folder);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// From one thread, in the order of time. A fault is reported at its end.
  void add(const Fault& fault, FaultClass kind);
  /// Forks, execs, exits and allocations; what else there is, is part of a fault.
  void add(const FaultEvent& event);
};

}  // namespace zerotax
