#pragma once

#include <cstddef>
#include <cstdint>

#include "observe/frame.h"
#include "os/perf_sampler.h"

namespace zerotax {

/// Whether a sample was taken in the kernel while it carried out a system call, rather than a fault or an interrupt.
/// `stack`: the sample's, with the kernel's functions where they are known.
bool is_in_call(const PerfEvent& sample, const Stack& stack);

/// Calls memset with a value of which all bits of the register are set as given, and returns what is then in that
/// register.
std::uint64_t left_by_memset(void* block, std::uint64_t value, std::size_t bytes);

}  // namespace zerotax
