#pragma once

namespace zerotax {

/// Exit statuses of a probe that could not begin, in addition to the statuses in sample_block.h. With each status, the
/// probe writes a line that begins with kProbeSays to standard error, because an allocator may end the process with any
/// status.

/// The descriptor of the sample block, or of the file for the answer, is closed. An allocator has closed descriptors
/// that it did not open.
inline constexpr int kNoSampleBlock = 66;

/// The machine could not give the probe a thread, or memory for its sample block.
inline constexpr int kNoMachine = 67;

inline constexpr char kProbeSays[] = "zerotax probe: ";

}  // namespace zerotax
