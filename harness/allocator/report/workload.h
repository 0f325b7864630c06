#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace zerotax::report {

/// The options of `report --workload`.
struct WorkloadRequest {
  std::string recording;         ///< a file of record --calls
  std::string allocator;         ///< NAME or NAME=PATH, which is to blame
  std::string than;              ///< the one that does better, likewise
  std::vector<std::string> env;  ///< NAME:KEY=VALUE
  std::string out;               ///< a folder that is not there yet
  double timeout_s = 60;
};

/// Looks for the fewest calls of a recording that take more page faults under one allocator than under another, and
/// writes a C program of them, a text, and what the whole recording does under both. Exit status 1 if there is nothing
/// to show, or not in few calls.
ExitStatus report_workload(const WorkloadRequest& request);

}  // namespace zerotax::report
