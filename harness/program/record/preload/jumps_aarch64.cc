#include <cstdint>
#include <cstring>

#include "record/preload/jumps.h"

namespace zerotax::record {
namespace {

constexpr std::uint32_t kJump = 0x14000000;  // b target, ±128 MiB
constexpr std::uint32_t kCall = 0x94000000;  // bl target
constexpr std::uint32_t kOperation = 0xfc000000;
constexpr std::uint32_t kReturn = 0xd65f03c0;  // ret
constexpr std::intptr_t kReach = std::intptr_t{128} << 20;

constexpr std::uint32_t kBranchTarget = 0xd503245f;  // bti c

struct Known {
  std::uint32_t instruction;
  std::uint32_t mask;  ///< bits of the instruction that must match
};

// First instructions of glibc's memset and of its wrappers of system calls, all of one size. Each of these instructions
// runs correctly at another address. paciasp is not included, because it depends on the stack pointer.
constexpr Known kFirst[] = {
    {0xd503201f, 0xffffffff},  // nop
    {0xd2800008, 0xffe0001f},  // mov x8, number
    {0xf2400000, 0xffc00000},  // tst x5, 0xfff, and other ands
    {0xaa0003e0, 0xffe0ffe0},  // mov x, x
    {0x2a0003e0, 0xffe0ffe0},  // mov w, w
    {0xa9800000, 0xffc00000},  // stp x29, x30, [sp, -n]!
    {0xd10003ff, 0xffc003ff},  // sub sp, sp, n
    {0x4e010c20, 0xffffffff},  // dup v0.16b, w1
};

}  // namespace

/// The mark for indirect calls stays in place, because the function may be called by its address.
Prologue prologue_of(const unsigned char* code) {
  std::uint32_t words[2];
  std::memcpy(&words[0], code, sizeof words);
  const std::size_t mark = words[0] == kBranchTarget ? 1 : 0;
  for (const Known& known : kFirst) {
    if ((words[mark] & known.mask) == known.instruction) return {mark * kJumpBytes, kJumpBytes};
  }
  return {mark * kJumpBytes, 0};
}

bool make_jump(unsigned char* at, const void* from, const void* target) {
  const auto distance = reinterpret_cast<std::intptr_t>(target) - reinterpret_cast<std::intptr_t>(from);
  if (distance < -kReach || distance >= kReach || distance % 4 != 0) return false;
  const std::uint32_t jump = kJump | (static_cast<std::uint32_t>(distance >> 2) & 0x03ffffff);
  std::memcpy(at, &jump, sizeof jump);
  return true;
}

void* first_called(const unsigned char* code) {
  for (std::size_t at = 0; at < 64; at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, code + at, sizeof word);
    if (word == kReturn) return nullptr;
    if ((word & kOperation) != kCall) continue;
    const auto distance = static_cast<std::int32_t>(word << 6) >> 4;  // a distance of 26 bits, in units of 4 bytes
    return const_cast<unsigned char*>(code) + at + distance;
  }
  return nullptr;
}

void show_code(const unsigned char* code, std::size_t bytes) {
  auto* const begin = const_cast<unsigned char*>(code);
  __builtin___clear_cache(begin, begin + bytes);
}

}  // namespace zerotax::record
