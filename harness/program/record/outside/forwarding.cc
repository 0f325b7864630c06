#include "record/outside/forwarding.h"

#include <elf.h>

#include <cstddef>
#include <cstring>

#include "record/outside/breakpoint_place.h"

namespace zerotax::record {
namespace {

/// A word of the code; zero if the code ends before it.
std::uint32_t word_at(std::string_view code, std::size_t at) {
  std::uint32_t word = 0;  // the processor is little-endian
  if (at + sizeof word <= code.size()) std::memcpy(&word, code.data() + at, sizeof word);
  return word;
}

std::string_view without(std::string_view code, std::string_view prefix) {
  return code.starts_with(prefix) ? code.substr(prefix.size()) : code;
}

/// The distance of a jmp with four bytes.
std::optional<std::int64_t> x86_jump(std::string_view code, std::size_t at) {
  constexpr std::size_t kBytes = 5;
  if (at + kBytes > code.size() || code[at] != '\xe9') return std::nullopt;
  return static_cast<std::int64_t>(at + kBytes) + static_cast<std::int32_t>(word_at(code, at + 1));
}

/// The distance of a b, which has 26 bits and counts words.
std::optional<std::int64_t> arm64_jump(std::string_view code, std::size_t at) {
  const std::uint32_t word = word_at(code, at);
  if ((word & 0xfc000000) != 0x14000000) return std::nullopt;
  return static_cast<std::int64_t>(at) + static_cast<std::int32_t>(word << 6) / 16;
}

}  // namespace

std::optional<std::int64_t> jumps_to(unsigned machine, std::string_view code) {
  const bool is_x86 = machine == EM_X86_64;
  if (!is_x86 && machine != EM_AARCH64) return std::nullopt;
  for (std::size_t at = 0; at < code.size();) {
    const std::string_view rest = code.substr(at);
    const FirstInstruction next = is_x86 ? x86_instruction(rest) : arm64_instruction(rest);
    if (next.kind == FirstInstruction::Kind::kUnknown) return is_x86 ? x86_jump(code, at) : arm64_jump(code, at);
    at += next.bytes;
  }
  return std::nullopt;
}

bool is_linkage(unsigned machine, std::string_view code) {
  if (machine == EM_X86_64) {
    // endbr64; bnd jmp *ADDRESS(%rip)
    return without(without(code, "\xf3\x0f\x1e\xfa"), "\xf2").starts_with("\xff\x25");
  }
  // bti c; adrp x16, ADDRESS
  const std::string_view first = without(code, "\x5f\x24\x03\xd5");
  return machine == EM_AARCH64 && (word_at(first, 0) & 0x9f00001f) == 0x90000010;
}

}  // namespace zerotax::record
