#pragma once

namespace zerotax {

/// Exit statuses of a probe that could not begin, beside those of sample_block.h. Each comes with a line on standard
/// error that begins with kProbeSays, because an allocator may end the process with any number.

/// The descriptor of its sample block, or of the file for its answer, is closed: the allocator has closed descriptors
/// that are not its own.
inline constexpr int kNoSampleBlock = 66;

/// The machine gave it no memory for its sample block, or no thread.
inline constexpr int kNoMachine = 67;

inline constexpr char kProbeSays[] = "zerotax probe: ";

}  // namespace zerotax
