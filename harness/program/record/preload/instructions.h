#pragma once

#include <cstddef>

namespace zerotax::record {

// Instructions that replace calls to functions of the C library. The recorder may have replaced those functions, or
// they may lie in the page whose rights are being changed.

#if defined(__x86_64__)

/// Makes a system call of up to four arguments, and returns the kernel's result.
inline long kernel_call(long number, long a, long b = 0, long c = 0, long d = 0) {
  long result = number;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}

/// Stores bytes as memset does, but needs neither a library nor a relocation.
inline void store_bytes(void* target, int value, std::size_t bytes) {
  asm volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
}

#elif defined(__aarch64__)

inline long kernel_call(long number, long a, long b = 0, long c = 0, long d = 0) {
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  asm volatile("svc #0" : "+r"(first) : "r"(which), "r"(second), "r"(third), "r"(fourth) : "memory");
  return first;
}

inline void store_bytes(void* target, int value, std::size_t bytes) {
  // Each store is a separate instruction, because the compiler would replace a loop of stores with a call to memset.
  for (auto* to = static_cast<unsigned char*>(target); bytes > 0; --bytes) {
    asm volatile("strb %w1, [%0], #1" : "+r"(to) : "r"(value) : "memory");
  }
}

#endif

}  // namespace zerotax::record
