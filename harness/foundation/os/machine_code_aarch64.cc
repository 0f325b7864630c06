#include <cstring>

#include "os/machine_code.h"

namespace zerotax {
namespace {

// Instructions, and masks of the bits that are not operands, from the Arm Architecture Reference Manual, chapter C6.2.
constexpr std::uint32_t kCall = 0x94000000;
constexpr std::uint32_t kCallMask = 0xfc000000;
constexpr std::uint32_t kCallByRegister = 0xd63f0000;
constexpr std::uint32_t kCallByRegisterMask = 0xfffffc1f;
constexpr std::uint32_t kBranchTarget = 0xd503245f;  // bti c
constexpr std::uint32_t kPageTo16 = 0x90000010;      // adrp x16, page
constexpr std::uint32_t kPageTo16Mask = 0x9f00001f;
constexpr std::uint32_t kLoadTo17 = 0xf9400211;  // ldr x17, [x16, #offset]
constexpr std::uint32_t kLoadTo17Mask = 0xffc003ff;

std::uint32_t instruction(const unsigned char* code) {
  std::uint32_t word = 0;
  std::memcpy(&word, code, sizeof word);
  return word;
}

/// Sign-extends a number of `bits` bits.
std::uint64_t with_sign(std::uint64_t value, unsigned bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return (value ^ sign) - sign;
}

}  // namespace

CallTarget call_ending_at(std::uint64_t address, const unsigned char* code) {
  using enum CallTarget::Kind;
  const std::uint32_t call = instruction(code);
  if ((call & kCallMask) == kCall) return {kFunction, address - 4 + 4 * with_sign(call & ~kCallMask, 26)};
  if ((call & kCallByRegisterMask) == kCallByRegister) return {kRegister, 0};
  return {};
}

/// A stub is: adrp x16, page; ldr x17, [x16, #offset]; add x16, …; br x17. An instruction `bti c` may precede the stub.
std::optional<std::uint64_t> slot_of_stub(std::uint64_t address, const unsigned char* code) {
  if (instruction(code) == kBranchTarget) {
    address += 4;
    code += 4;
  }
  const std::uint32_t page = instruction(code);
  const std::uint32_t load = instruction(code + 4);
  if ((page & kPageTo16Mask) != kPageTo16 || (load & kLoadTo17Mask) != kLoadTo17) return std::nullopt;
  const std::uint64_t distance = with_sign((page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3), 21) << 12;
  return (address & ~std::uint64_t{0xfff}) + distance + 8 * (load >> 10 & 0xfff);
}

}  // namespace zerotax
