#pragma once

namespace zerotax::syscall_filter {

/// From now on, for good, all system calls of this thread, and of threads and processes that it starts, become SIGSYS,
/// but for the return from a signal handler, which finds its frame on the stack, and those made from the range of code
/// from `begin` to `end`. The kernel compares the address after the instruction. Returns nullptr, or why not.
/// Needs Linux 3.5, and no privilege: the thread gains none from then on (PR_SET_NO_NEW_PRIVS).
/// Source: Documentation/userspace-api/seccomp_filter.rst.
const char* start(const char* begin, const char* end);

/// Whether this kernel has such filters. Changes nothing.
bool is_offered();

/// Whether the running thread is the one that called start() last.
bool is_counted_thread();

}  // namespace zerotax::syscall_filter
