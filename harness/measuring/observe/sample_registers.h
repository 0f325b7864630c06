#pragma once

#include <cstddef>
#include <cstdint>

#include "observe/frame.h"
#include "os/perf_sampler.h"

namespace zerotax {

/// Returns whether a sample was taken in a system call, rather than in a fault or an interrupt. `stack` is the sample's
/// stack with the known functions of the kernel.
bool is_in_call(const PerfEvent& sample, const Stack& stack);

/// Calls memset with a value that sets all bits of the argument's register. Returns the contents of that register
/// afterwards.
std::uint64_t left_by_memset(void* block, std::uint64_t value, std::size_t bytes);

}  // namespace zerotax
