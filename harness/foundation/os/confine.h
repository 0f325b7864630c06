#pragma once

#include <cstdint>

namespace zerotax {

/// Takes away, for good, the rights of this process that a parser of hostile bytes does not need. These are other
/// users' rights (root becomes a user that owns nothing), capabilities, new privileges, core dumps, and writable files.
/// System calls remain only for memory, for open descriptors and for the process's end. All other calls fail with
/// EACCES. If the kernel cannot filter system calls, the rest still holds. Call it before any thread is started.
/// Source: Documentation/userspace-api/seccomp_filter.rst, capabilities(7).
void confine_process();

/// Limits the address space of this process to `bytes`. No effect under a sanitizer, which reserves far more.
void limit_address_space(std::uint64_t bytes);

}  // namespace zerotax
