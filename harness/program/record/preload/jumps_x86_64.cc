#include <cstdint>
#include <cstring>

#include "record/preload/jumps.h"

namespace zerotax::record {
namespace {

constexpr unsigned char kJump = 0xe9;

struct Known {
  unsigned char code[10];
  std::size_t bytes;  ///< number of bytes of `code` that must match
  std::size_t moved;  ///< number of bytes to move, as whole instructions; bytes beyond `code` belong to an immediate
                      ///< operand
};

// Beginnings of functions in glibc 2.17 to 2.41, x86-64. All these instructions run correctly at another address.
constexpr Known kPrologues[] = {
    {{0xb8}, 1, 5},                                                          // mov $number, %eax
    {{0x41, 0x89, 0xca, 0x41, 0xf7, 0xc1, 0xff, 0x0f, 0x00, 0x00}, 10, 10},  // mov %ecx, %r10d; test $0xfff, %r9d
    {{0x41, 0xf7, 0xc1, 0xff, 0x0f, 0x00, 0x00}, 7, 7},                      // test $0xfff, %r9d
    {{0x49, 0x89, 0xca, 0xb8}, 4, 8},                                        // mov %rcx, %r10; mov $number, %eax
    {{0x48, 0x83, 0xec, 0x58, 0x4c, 0x89, 0x44, 0x24, 0x40}, 9, 9},          // sub $0x58, %rsp; mov %r8, 0x40(%rsp)
};

constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};

}  // namespace

/// The mark for indirect calls is moved, too, and has no effect at its new address.
Prologue prologue_of(const unsigned char* code) {
  const std::size_t mark = std::memcmp(code, kEndBranch, sizeof kEndBranch) == 0 ? sizeof kEndBranch : 0;
  for (const Known& known : kPrologues) {
    if (std::memcmp(code + mark, known.code, known.bytes) == 0) return {0, mark + known.moved};
  }
  return {};
}

bool make_jump(unsigned char* at, const void* from, const void* target) {
  const auto distance = reinterpret_cast<std::intptr_t>(target) -
                        (reinterpret_cast<std::intptr_t>(from) + static_cast<std::intptr_t>(kJumpBytes));
  const auto near = static_cast<std::int32_t>(distance);
  if (near != distance) return false;
  at[0] = kJump;
  std::memcpy(at + 1, &near, sizeof near);
  return true;
}

void* first_called(const unsigned char* /*code*/) { return nullptr; }

void show_code(const unsigned char* /*code*/, std::size_t /*bytes*/) {}

}  // namespace zerotax::record
