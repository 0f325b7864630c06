#pragma once

#include <cstdint>

namespace zerotax {

/// Permanently removes the rights of this process that a parser of untrusted bytes does not need. The process loses
/// root's rights (root becomes a user that owns nothing) and its capabilities. It gains no privileges, dumps no core
/// and writes no files. Only system calls for memory, for open descriptors and for ending the process remain; all
/// others fail with EACCES. If the kernel cannot filter system calls, the other restrictions still apply. Call this
/// function before any thread is started. Source: Documentation/userspace-api/seccomp_filter.rst, capabilities(7).
void confine_process();

/// Limits the address space of this process to `bytes`. Has no effect under a sanitizer, because sanitizers reserve far
/// more.
void limit_address_space(std::uint64_t bytes);

}  // namespace zerotax
