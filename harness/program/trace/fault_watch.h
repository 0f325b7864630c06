#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "files/folders.h"
#include "observe/fault_tracer.h"
#include "trace/trigger.h"

namespace zerotax::trace {

/// Stops the trace of the program that the calling thread starts next, and of all that is started from it by exec, as
/// soon as they take page faults at this rate, all together. They inherit our environment, which makes their buffers
/// keep the latest records, and lets them be stopped.
class FaultWatch {
 public:
  /// Throws MachineError if faults cannot be watched.
  explicit FaultWatch(FaultRate rate);

  /// Ends watching, and says what happened. Once, after the program's end.
  std::string finish();

 private:
  void count(const Fault& fault);
  void stop_all();

  FaultRate rate_;
  TemporaryFolder control_{"control"};
  std::deque<std::uint64_t> recent_;  ///< times of the latest faults
  bool reached_ = false;
  unsigned stopped_ = 0;  ///< processes
  std::vector<std::string> failures_;
  std::unique_ptr<FaultTracer> tracer_;
};

}  // namespace zerotax::trace
