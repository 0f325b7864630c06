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
  std::chrono::milliseconds timeout{60'000};  ///< of the point: all of its passes
  std::chrono::nanoseconds used{0};           ///< of it, by passes before
  std::uint64_t resident_bytes = 0;           ///< 0: no limit
  HugePages huge_pages = HugePages::kOfSystem;
};

/// How a pass went, by how its process ended and how far it got according to its sample block.
struct PassVerdict {
  PassResult::Status status;
  std::string reason;  ///< empty if ok
};

/// Only a process that marked its sample block as done and then exited with 0 is ok: any other end is `crashed`,
/// `failed`, or `timeout`. `out_of_memory`: the kernel killed something for lack of memory meanwhile.
PassVerdict judge_pass(const ChildResult& child, const SampleBlock& samples, const PassLimits& limits,
                       bool out_of_memory);

/// Whether the probe itself said on its standard error that it ended with this status, and not the allocator.
bool probe_says(const ChildResult& child, int exit_status);
/// What it said then.
std::string probe_words(const ChildResult& child);

/// Runs one pass of a point in a fresh process; a signal that asks for an end kills it (PassResult::Status::kStopped).
/// Never throws for what the allocator does. Throws MachineError if the probe cannot be started or comes from another
/// build, and if it failed under a resource limit, which may be why.
PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits);

}  // namespace zerotax
