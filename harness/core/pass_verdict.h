#pragma once

#include <string>

#include "core/probe_process.h"
#include "meter/record.h"
#include "os/child.h"

namespace zerotax {

/// How a pass went, by how its process ended and how far its record says it came.
struct PassVerdict {
  PassResult::Status status;
  std::string reason;  ///< empty if ok
};

/// Ok is only who marked its record as done and then exited with 0: any other end is `crashed`, `failed`, or `timeout`.
/// `out_of_memory`: the kernel killed something for want of memory meanwhile.
PassVerdict judge_pass(const ChildResult& child, const Record& record, const PassLimits& limits, bool out_of_memory);

/// Whether the probe itself said on its standard error that it ended with this status, and not the allocator.
bool probe_says(const ChildResult& child, int exit_status);

}  // namespace zerotax
