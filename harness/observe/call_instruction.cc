#include "observe/call_instruction.h"

#include <cstring>

namespace zerotax {

CallKind call_before(std::uint64_t address, std::uint64_t function,
                     const std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>& read) {
  unsigned char code[7];
  if (address < sizeof code || !read(address - sizeof code, &code[0], sizeof code)) return CallKind::kNone;
  const auto displaced = [](std::uint64_t from, const unsigned char* by) {
    std::int32_t distance = 0;
    std::memcpy(&distance, by, sizeof distance);
    return from + static_cast<std::uint64_t>(std::int64_t{distance});
  };
  const auto leads_there = [&](std::uint64_t slot) {
    std::uint64_t target = 0;
    return function != 0 && read(slot, &target, sizeof target) && target == function;
  };
  if (code[2] == 0xe8) {  // call near, relative
    const std::uint64_t target = displaced(address, &code[3]);
    if (target == function && function != 0) return CallKind::kOfFunction;
    // A stub of the procedure linkage table: endbr64, then jmp *slot(%rip).
    unsigned char stub[11];
    if (!read(target, &stub[0], sizeof stub)) return CallKind::kNone;
    static constexpr unsigned char kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    std::size_t i = std::memcmp(&stub[0], &kEndbr[0], sizeof kEndbr) == 0 ? sizeof kEndbr : 0;
    if (stub[i] == 0xf2) ++i;  // bnd
    if (i + 6 > sizeof stub || stub[i] != 0xff || stub[i + 1] != 0x25) return CallKind::kNone;
    return leads_there(displaced(target + i + 6, &stub[i + 2])) ? CallKind::kOfFunction : CallKind::kNone;
  }
  if (code[1] == 0xff && code[2] == 0x15) {  // call *slot(%rip)
    return leads_there(displaced(address, &code[3])) ? CallKind::kOfFunction : CallKind::kNone;
  }
  // call *register, or *(register): FF /2, with or without a displacement of a byte.
  const auto is_call = [](unsigned char opcode, unsigned char operand) {
    return opcode == 0xff && (operand & 0x38) == 0x10;
  };
  return is_call(code[5], code[6]) || is_call(code[4], code[5]) ? CallKind::kByRegister : CallKind::kNone;
}

}  // namespace zerotax
