#pragma once

namespace zerotax::recorder {

/// The kernel's name for the processor's own counter, between blanks, if that counts at one rate on all CPUs and in all
/// power states; else nullptr.
const char* invariant_clock_source();

}  // namespace zerotax::recorder
