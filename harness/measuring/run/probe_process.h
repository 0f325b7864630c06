#pragma once

#include <chrono>

#include "point/pass_result.h"
#include "point/plan.h"

namespace zerotax {

/// Limits of one pass.
struct PassLimits {
  std::chrono::milliseconds timeout{60'000};  ///< of the point: all of its passes
  std::chrono::nanoseconds used{0};           ///< of it, by passes before
  std::uint64_t resident_bytes = 0;           ///< 0: no limit
  HugePages huge_pages = HugePages::kOfSystem;
};

/// Runs one pass of a point in a fresh process; a signal that asks for an end kills it (PassResult::Status::kStopped).
/// Never throws for what the allocator does. Throws MachineError if the probe cannot be started or comes from another
/// build, and if it failed under a resource limit, which may be why.
PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits);

}  // namespace zerotax
