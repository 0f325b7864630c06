#pragma once

#include <sys/types.h>

#include "advise/search.h"
#include "observe/fault_tracer.h"

namespace zerotax::advise {

/// Counts the pages that a program copies after its forks.
class CopyWatch {
 public:
  /// Watches the program that the calling thread starts next. Throws MachineError if faults cannot be watched.
  CopyWatch();
  /// Returns the copies of a process and its descendants. Call this function once, after the process has ended.
  Copies finish(pid_t program);

 private:
  FaultTracer tracer_;
};

/// Returns the copies of a process and its descendants.
Copies copies_of(const FaultData& data, pid_t program);

}  // namespace zerotax::advise
