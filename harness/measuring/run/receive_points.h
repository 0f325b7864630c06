#pragma once

#include "point/plan.h"

namespace zerotax {

/// Adds to a study what a program meets that receives into buffers larger than what it gets (cases/recv_buffer): quick,
/// a size on each side of what an allocator caches; full, every octave from 16 KiB to 1 GiB, with and without TLS.
/// Nothing where this build has no server for the case.
void add_receive_points(Plan& plan, bool full);

/// Few operations: an allocator that zeroes takes seconds for one of a gigabyte, and a loop without meters follows
/// anyway.
Repeats receive_repeats(std::uint64_t size_bytes);

}  // namespace zerotax
