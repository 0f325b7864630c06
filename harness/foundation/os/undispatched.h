#pragma once

#include <cstddef>
#include <cstdint>

/// System calls from the one range of code that syscall user dispatch passes over (os/syscall_counter.cc).
/// Returns what the kernel does: -errno on failure.
extern "C" long zerotax_syscall(long number, long a, long b, long c, long d, long e, long f)
    __attribute__((visibility("hidden")));

namespace zerotax {

/// A system call of another code, as its registers had it.
struct SystemCall {
  long number;
  long arguments[6];
};

/// The kernel reports an error as a number from -4095 on.
inline bool is_error(long result) { return static_cast<unsigned long>(result) > -4096UL; }

/// Copies memory of this process from an address that another code gave the kernel. False if it is a wrong one, which
/// is the kernel's to refuse.
bool read_own_memory(long address, void* to, std::size_t bytes);

}  // namespace zerotax
