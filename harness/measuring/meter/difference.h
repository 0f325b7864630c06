#pragma once

#include "meter/sample_block.h"

namespace zerotax {

/// Looks for what would make calloc minus malloc differ from the time of zeroing: malloc zeroes too, or makes other
/// system calls than calloc, or the difference is more than storing zeros could take. It writes what it finds to
/// SampleBlock::na_zero_ns. Makes calls of its own, of the size asked for: to be called when all others have been
/// timed.
void examine_difference(SampleBlock& samples);

}  // namespace zerotax
