#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "os/memory.h"

namespace zerotax {

/// Why a block of this size cannot be measured in the memory that there is, or "". A calloc that zeroes populates the
/// whole block even if nothing is touched, so every point needs its size, and an eighth more for what the allocator
/// keeps.
std::string why_too_large(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Touches `bytes` once, or half of what is usable: in a virtual machine a first touch of memory that the host has not
/// backed yet is up to ten times slower, and would be charged to whatever runs first. Ends early if a signal asks for
/// an end.
void warm_up(std::uint64_t bytes);

/// How many audits of this size may run at the same time: one per CPU, as long as they fit in memory together. At
/// least 1.
std::size_t audits_side_by_side(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// The resident set in bytes beyond which a probe is killed: an allocator that keeps everything it ever had must not
/// take the machine with it. Twice the block and 1 GiB, but never the last 256 MiB of the machine.
std::uint64_t resident_limit(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

}  // namespace zerotax
