#pragma once

namespace zerotax::syscall_filter {

/// Permanently turns all system calls of this thread, and of threads and processes that it starts, into SIGSYS. Calls
/// from the code between `begin` and `end` are exempt; the kernel compares the address after the instruction. The
/// return from a signal handler, which finds its frame on the stack, is exempt too. Returns nullptr, or the reason for
/// a failure. Needs Linux 3.5 or later, and no privilege, but the thread can gain no privileges afterwards
/// (PR_SET_NO_NEW_PRIVS). Source: Documentation/userspace-api/seccomp_filter.rst.
const char* start(const char* begin, const char* end);

/// Whether this kernel has seccomp filters. Changes nothing.
bool is_offered();

/// Whether the running thread is the one that called start() last.
bool is_counted_thread();

}  // namespace zerotax::syscall_filter
