#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace zerotax::report {

/// Options of `report --workload`.
struct WorkloadRequest {
  std::string recording;         ///< file from record --calls
  std::string allocator;         ///< NAME or NAME=PATH of the blamed allocator
  std::string than;              ///< NAME or NAME=PATH of the better allocator
  std::vector<std::string> env;  ///< words NAME:KEY=VALUE
  std::string out;               ///< path of a folder that does not exist yet
  double timeout_s = 60;
};

/// Searches a recording for the fewest calls that cause more page faults under one allocator than under another. Writes
/// a C program with these calls, a text, and the results of the whole recording under both allocators. Returns exit
/// status 1 if there is no such difference, or if too many calls are needed to show the difference.
ExitStatus report_workload(const WorkloadRequest& request);

}  // namespace zerotax::report
