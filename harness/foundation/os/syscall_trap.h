#pragma once

#include <ucontext.h>

#include <csignal>

#include "os/undispatched.h"

// What differs between processors in os/syscall_counter.cc: how a thread's system calls become SIGSYS, and what the
// handler finds and leaves in the registers.
namespace zerotax::syscall_trap {

/// Whether it cannot be ended: from start() on, the calls of the thread, and of threads and processes that it starts,
/// always become SIGSYS (os/syscall_filter.h), and the handler carries out those that are not asked for. A program
/// started by one of them is killed at its first system call.
bool is_for_good();

/// System calls of this thread become SIGSYS from now on, but for those of zerotax_syscall and zerotax_sigreturn; where
/// that can be ended, only while *selector is not 0. Returns nullptr, or why not.
const char* start(volatile char* selector);
/// Why start() would refuse; nullptr: it would not, as far as can be told without a change.
const char* refusal();
/// "syscall user dispatch"
const char* name();
/// What to do where it is refused.
const char* remedy();

SystemCall call_of(const ucontext_t& context);
void set_result(ucontext_t& context, long result);
/// Lets the thread make the call itself, once the handler returns; where the trap can be ended, it is to be off then.
/// `native`: it is one of this processor, not of an older one's programs. A call that cannot be made fails in the
/// thread with EAGAIN.
void make_in_place(ucontext_t& context, bool native);
/// A handler of another signal has made the call rt_sigreturn: lets it return, with SIGSYS unblocked. Returns whether
/// it would have been blocked.
bool return_from_handler(ucontext_t& context);

}  // namespace zerotax::syscall_trap

/// The return from a signal handler, from the range of code that is passed over.
extern "C" void zerotax_sigreturn() __attribute__((visibility("hidden")));
