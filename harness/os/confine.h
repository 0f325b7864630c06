#pragma once

#include <cstdint>

namespace zerotax {

/// Takes from this process, for good, what a parser of hostile bytes does not need: other users' rights (root becomes a
/// user that owns nothing), capabilities, new privileges, core dumps, files that it could write, and all system calls
/// but those for memory, for its open descriptors and for its end. The others fail with EACCES. Where the kernel
/// has no filter of system calls the rest still holds. Call it before any thread is started.
/// Source: Documentation/userspace-api/seccomp_filter.rst, capabilities(7).
void confine_process();

/// Limits the address space of this process to so many bytes; without effect under a sanitizer, which reserves far
/// more.
void limit_address_space(std::uint64_t bytes);

}  // namespace zerotax
