#pragma once

#include "observe/frame.h"
#include "os/perf_sampler.h"

namespace zerotax {

/// Whether a sample was taken in the kernel while it carried out a system call, rather than a fault or an interrupt.
/// `stack`: the sample's, with the kernel's functions where they are known.
bool is_in_call(const PerfEvent& sample, const Stack& stack);

}  // namespace zerotax
