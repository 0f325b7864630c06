#pragma once

namespace zerotax {

/// The clocks, counters and files that a probe reads are the C library's, whatever the preloaded library exports under
/// the same names: the probe's own slots for them are set to the C library's functions. To be called once, before
/// anything is measured; does nothing, and allocates nothing, where no name has been taken.
void use_real_functions();

}  // namespace zerotax
