#include <cstring>

#include "os/machine_code.h"

namespace zerotax {
namespace {

std::uint64_t displaced(std::uint64_t from, const unsigned char* by) {
  std::int32_t distance = 0;
  std::memcpy(&distance, by, sizeof distance);
  return from + static_cast<std::uint64_t>(std::int64_t{distance});
}

/// Whether an instruction is call *register, or *(register): FF /2, with or without a displacement of a byte.
bool is_call(unsigned char opcode, unsigned char operand) { return opcode == 0xff && (operand & 0x38) == 0x10; }

}  // namespace

CallTarget call_ending_at(std::uint64_t address, const unsigned char* code) {
  using enum CallTarget::Kind;
  if (code[2] == 0xe8) return {kFunction, displaced(address, &code[3])};                 // call near, relative
  if (code[1] == 0xff && code[2] == 0x15) return {kSlot, displaced(address, &code[3])};  // call *slot(%rip)
  if (is_call(code[5], code[6]) || is_call(code[4], code[5])) return {kRegister, 0};
  return {};
}

/// A stub is endbr64, bnd, jmp *slot(%rip), of which the first two are optional.
std::optional<std::uint64_t> slot_of_stub(std::uint64_t address, const unsigned char* code) {
  static constexpr unsigned char kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
  std::size_t i = std::memcmp(code, &kEndbr[0], sizeof kEndbr) == 0 ? sizeof kEndbr : 0;
  if (code[i] == 0xf2) ++i;
  if (i + 6 > kStubBytes || code[i] != 0xff || code[i + 1] != 0x25) return std::nullopt;
  return displaced(address + i + 6, &code[i + 2]);
}

}  // namespace zerotax
