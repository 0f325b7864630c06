#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstddef>

/// Makes a system call from the range of code that is exempt from the trap (os/syscall_counter.cc). Returns the
/// kernel's result, which is -errno on failure.
extern "C" long zerotax_syscall(long number, long a, long b, long c, long d, long e, long f)
    __attribute__((visibility("hidden")));

namespace zerotax {

/// A system call of the allocator or the program, read from the registers.
struct SystemCall {
  long number;
  long arguments[6];
};

/// Whether a result is an error: the kernel returns an error as a number from -4095 to -1.
inline bool is_error(long result) { return static_cast<unsigned long>(result) > -4096UL; }

/// Copies memory of this process from an address that the program passed to the kernel. Returns false if the address is
/// invalid, so that the kernel can refuse it later.
bool read_own_memory(long address, void* to, std::size_t bytes);

}  // namespace zerotax

// Code of os/syscall_counter.cc that differs between processors: how a thread's system calls become SIGSYS, and where
// the handler finds arguments and results in the registers.
namespace zerotax::syscall_trap {

/// Whether the trap is permanent. If so, after start() all calls of the thread, and of threads and processes that it
/// starts, become SIGSYS (syscall_filter). The handler performs calls that are not being counted. If such a thread
/// or process executes a program, the program is killed at its first system call.
bool is_for_good();

/// Turns system calls of this thread into SIGSYS from now on, except system calls by zerotax_syscall and
/// zerotax_sigreturn. A trap that is not permanent applies only while *selector is not 0. Returns nullptr, or the
/// reason for a failure.
const char* start(volatile char* selector);
/// Returns why start() would fail, or nullptr if it would succeed, as far as this can be tested without changing
/// anything.
const char* refusal();
/// Returns the name of the method, such as "syscall user dispatch".
const char* name();
/// Returns the remedy for a refusal.
const char* remedy();

SystemCall call_of(const ucontext_t& context);
void set_result(ucontext_t& context, long result);
/// Lets the thread make the call itself after the handler returns. If the trap is not permanent, the caller must set
/// the selector to 0 first. `native` means a call of this processor, not a call of an older processor's programs. If
/// the call cannot be made, it fails in the thread with EAGAIN.
void make_in_place(ucontext_t& context, bool native);
/// Makes another signal's handler return (rt_sigreturn) with SIGSYS unblocked. Returns whether the restored signal mask
/// would have blocked SIGSYS.
bool return_from_handler(ucontext_t& context);

}  // namespace zerotax::syscall_trap

/// Returns from a signal handler, by code in the range that is exempt from the trap.
extern "C" void zerotax_sigreturn() __attribute__((visibility("hidden")));

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
