#pragma once

#include <chrono>
#include <string>

#include "meter/sample_block.h"
#include "os/child.h"
#include "point/plan.h"
#include "point/point.h"

namespace zerotax {

/// Limits of one pass.
struct PassLimits {
  std::chrono::milliseconds timeout{60'000};  ///< time limit of the point, for all its passes
  std::chrono::nanoseconds used{0};           ///< part of the limit that earlier passes used
  std::uint64_t resident_bytes = 0;           ///< maximum resident set; 0 for no limit
  HugePages huge_pages = HugePages::kOfSystem;
};

/// The result of a pass, from the end of its process and its progress in the sample block.
struct PassVerdict {
  PassResult::Status status;
  std::string reason;  ///< reason for the status; empty if the status is ok
};

/// Judges a pass. The pass is ok only if the process marked its sample block as done and then exited with 0. Any other
/// end is `crashed`, `failed` or `timeout`. `out_of_memory` means that the kernel killed a process for lack of memory
/// during the pass.
PassVerdict judge_pass(const ChildResult& child, const SampleBlock& samples, const PassLimits& limits,
                       bool out_of_memory);

/// Returns whether the probe itself reported on standard error that it ended with this status.
bool probe_says(const ChildResult& child, int exit_status);
/// Returns the probe's own message about its end.
std::string probe_words(const ChildResult& child);

/// Runs one pass of a point in a fresh process. A signal that requests termination kills the process
/// (PassResult::Status::kStopped). Errors of the allocator are part of the result. Throws MachineError if the probe
/// cannot be started, comes from another build, or failed, possibly because of a resource limit.
PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits);

}  // namespace zerotax
