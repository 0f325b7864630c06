#include "functions/jump_target.h"

namespace zerotax::functions {
namespace {

#if defined(__GLIBC__)

constexpr int kStackPointer = 13;  // sysdeps/aarch64/jmpbuf-offsets.h

std::uint64_t guard = 0;

/// glibc xors the stack pointer with a secret number of this process (pointer_guard.h). A jmp_buf that this function
/// fills by setjmp reveals that number.
[[gnu::constructor]] void find_guard() {
  static jmp_buf own;
  std::uint64_t stack = 0;
  asm volatile("mov %0, sp" : "=r"(stack));
  if (_setjmp(own) == 0) guard = static_cast<std::uint64_t>(own[0].__jmpbuf[kStackPointer]) ^ stack;
}

#endif

}  // namespace

std::uint64_t stack_of(const __jmp_buf_tag* buffer) {
#if defined(__GLIBC__)
  return static_cast<std::uint64_t>(buffer->__jmpbuf[kStackPointer]) ^ guard;
#else
  static_cast<void>(buffer);
  return 0;
#endif
}

}  // namespace zerotax::functions
