#pragma once

namespace zerotax::recorder {

/// Returns the kernel's name for the processor's own counter, enclosed in blanks. Returns nullptr unless the counter
/// runs at the same rate on all CPUs and in all power states.
const char* invariant_clock_source();

}  // namespace zerotax::recorder
