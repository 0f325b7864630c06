#include "record/outside/breakpoint_place.h"

#include <elf.h>

namespace zerotax::record {

std::optional<std::uint64_t> breakpoint_place(unsigned machine, std::string_view code) {
  using enum FirstInstruction::Kind;
  for (std::size_t at = 0; at < code.size();) {
    FirstInstruction next;
    if (machine == EM_X86_64) next = x86_instruction(code.substr(at));
    if (machine == EM_AARCH64) next = arm64_instruction(code.substr(at));
    if (next.kind == kUnknown || next.bytes > code.size() - at) return std::nullopt;
    if (next.kind == kPlace) return at;
    at += next.bytes;
  }
  return std::nullopt;
}

}  // namespace zerotax::record
