#include "observe/call_instruction.h"

#include "os/machine_code.h"

namespace zerotax {

CallKind call_before(std::uint64_t address, std::uint64_t function,
                     const std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>& read) {
  unsigned char code[kCallBytes];
  if (address < sizeof code || !read(address - sizeof code, &code[0], sizeof code)) return CallKind::kNone;
  const auto leads_there = [&](std::uint64_t slot) {
    std::uint64_t target = 0;
    return function != 0 && read(slot, &target, sizeof target) && target == function;
  };
  const CallTarget call = call_ending_at(address, &code[0]);
  switch (call.kind) {
    case CallTarget::Kind::kFunction: {
      if (call.address == function && function != 0) return CallKind::kOfFunction;
      unsigned char stub[kStubBytes];
      if (!read(call.address, &stub[0], sizeof stub)) return CallKind::kNone;
      const auto slot = slot_of_stub(call.address, &stub[0]);
      return slot && leads_there(*slot) ? CallKind::kOfFunction : CallKind::kNone;
    }
    case CallTarget::Kind::kSlot:
      return leads_there(call.address) ? CallKind::kOfFunction : CallKind::kNone;
    case CallTarget::Kind::kRegister:
      return CallKind::kByRegister;
    case CallTarget::Kind::kNone:
      break;
  }
  return CallKind::kNone;
}

}  // namespace zerotax
