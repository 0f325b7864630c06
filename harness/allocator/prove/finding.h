#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "prove/functions.h"
#include "prove/record_file.h"
#include "prove/result.h"
#include "prove/run.h"

namespace zerotax::prove {

/// The conditions for repeating a finding.
struct FindingWork {
  const Allocator& allocator;
  const std::vector<Function>& functions;
  const ProveRequest& request;
  std::string folder;                               ///< gets temporary files
  std::function<void(std::size_t operations)> say;  ///< called with the length of each sequence that is tried
};

/// Reduces the operations of a finding, and writes them as a program. Compiles the program and runs it under the
/// allocator and under the C library's own allocator. If a step fails, the result has the reason.
ProofFinding reduced_finding(const FindingWork& work, const ProofFinding& found, const RecordFile& record);

}  // namespace zerotax::prove
