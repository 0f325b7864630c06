#pragma once

#include <cstdint>

namespace zerotax {

struct TimedClone {
  long result;  ///< result of the system call in the parent
  std::uint64_t begin;
  std::uint64_t end;
};

#if defined(__x86_64__)

/// Reads the CPU's time stamp counter after all earlier instructions (Intel SDM volume 2, RDTSC).
inline std::uint64_t time_stamp() {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return high << 32 | low;
}

/// Calls clone(2) on the same stack; the child exits at once. Between the two readings of the counter, neither parent
/// nor child executes a store. The first store after a fork is a copy fault, which must not be included.
inline TimedClone timed_clone(std::uint64_t flags) {
  TimedClone timed{};
  asm volatile(
      "lfence\n\t"
      "rdtsc\n\t"
      "shlq $32, %%rdx\n\t"
      "orq %%rdx, %%rax\n\t"
      "movq %%rax, %[begin]\n\t"
      "xorl %%esi, %%esi\n\t"
      "xorl %%edx, %%edx\n\t"
      "xorl %%r10d, %%r10d\n\t"
      "xorl %%r8d, %%r8d\n\t"
      "movl $56, %%eax\n\t"  // clone
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%edi, %%edi\n\t"
      "movl $231, %%eax\n\t"  // exit_group
      "syscall\n\t"
      "1:\n\t"
      "movq %%rax, %[result]\n\t"
      "lfence\n\t"
      "rdtsc\n\t"
      "shlq $32, %%rdx\n\t"
      "orq %%rdx, %%rax\n\t"
      : [begin] "=&r"(timed.begin), [result] "=&r"(timed.result), "=&a"(timed.end), "+D"(flags)
      :
      : "rcx", "rdx", "rsi", "r8", "r10", "r11", "cc", "memory");
  return timed;
}

#elif defined(__aarch64__)

/// Reads the virtual counter after all earlier instructions (Arm Architecture Reference Manual, D12.1). The counter
/// runs at 24 MHz to 1 GHz, depending on the machine.
inline std::uint64_t time_stamp() {
  std::uint64_t ticks = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
}

inline TimedClone timed_clone(std::uint64_t flags) {
  TimedClone timed{};
  register std::uint64_t argument asm("x0") = flags;
  asm volatile(
      "isb\n\t"
      "mrs %[begin], cntvct_el0\n\t"
      "mov x1, #0\n\t"
      "mov x2, #0\n\t"
      "mov x3, #0\n\t"
      "mov x4, #0\n\t"
      "mov x8, #220\n\t"  // clone
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x8, #94\n\t"  // exit_group
      "svc #0\n\t"
      "1:\n\t"
      "isb\n\t"
      "mrs %[end], cntvct_el0\n\t"
      : [begin] "=&r"(timed.begin), [end] "=&r"(timed.end), "+r"(argument)
      :
      : "x1", "x2", "x3", "x4", "x8", "cc", "memory");
  timed.result = static_cast<long>(argument);
  return timed;
}

#endif

}  // namespace zerotax
