#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// Operations that tests and planted programs carry out by their own instructions. No function of the C library sees
/// these operations.
namespace instructions {

#if defined(__x86_64__)

[[gnu::always_inline]] inline void store_zeros(void* to, std::size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}

[[gnu::always_inline]] inline void pause() { asm volatile("pause"); }

[[gnu::always_inline]] inline std::uint64_t ticks() { return __rdtsc(); }
/// Returns the approximate number of ticks in `ns` nanoseconds. Assumes a processor of 3 GHz.
[[gnu::always_inline]] inline std::uint64_t ticks_in(std::uint64_t ns) { return 3 * ns; }

/// Makes a system call and returns the kernel's result, which is -errno on failure.
[[gnu::always_inline]] inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  long result = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

[[gnu::always_inline]] inline void store_zeros(void* to, std::size_t bytes) {
  for (; bytes >= 16; bytes -= 16) asm volatile("stp xzr, xzr, [%0], #16" : "+r"(to) : : "memory");
  for (; bytes > 0; --bytes) asm volatile("strb wzr, [%0], #1" : "+r"(to) : : "memory");
}

[[gnu::always_inline]] inline void pause() { asm volatile("yield"); }

[[gnu::always_inline]] inline std::uint64_t ticks() {
  std::uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
}
[[gnu::always_inline]] inline std::uint64_t ticks_in(std::uint64_t ns) {
  std::uint64_t a_second = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(a_second));
  return ns * (a_second / 1000) / 1'000'000;
}

[[gnu::always_inline]] inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  asm volatile("svc #0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth) : "memory");
  return first;
}

#endif

}  // namespace instructions
