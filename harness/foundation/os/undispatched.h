#pragma once

#include <cstddef>
#include <cstdint>

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
