#pragma once

#include <string>

#include "meter/sample_block.h"
#include "os/child.h"
#include "run/probe_process.h"

namespace zerotax {

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

}  // namespace zerotax
