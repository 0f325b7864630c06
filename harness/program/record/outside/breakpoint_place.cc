// Instructions of x86-64, as in the Intel SDM, volume 2. The kernel's treatment of an instruction with a breakpoint is
// in arch/x86/kernel/uprobes.c (uprobe_init_insn, branch_setup_xol_ops, push_setup_xol_ops, default_xol_ops). One
// recent version of that file was read. The rules below are stricter, so that they also hold for older versions.
//
// - The kernel decides by the first opcode byte, after the prefixes. After VEX, EVEX and XOP, that byte belongs to
//   another table: 7a of EVEX map 2 is vpbroadcastb, but is mistaken for jp. So no such instruction gets a breakpoint.
//
// - The kernel refuses the prefixes LOCK, CS, DS, ES and SS, and a call or jump with the prefix 66.
//
// - The kernel rewrites operands that are relative to the instruction, and emulates jumps, calls, pushes and NOPs.
//   Recent versions turn a NOP of 5 or 10 bytes into a call. Of all these instructions, only a push gets a breakpoint.
//
// - The kernel executes all other instructions in a copy, by one single step. A `rep` takes more than one step.
//
// Instructions of arm64, by the encodings in the Arm Architecture Reference Manual (DDI 0487, chapter C4). The kernel's
// treatment is in arch/arm64/kernel/probes/decode-insn.c, read in Linux 6.12. There, arm_probe_decode_insn() emulates
// branches and adr, and refuses loads of literals, exclusive loads and stores. It also refuses the three instructions
// of a memory copy or set (FEAT_MOPS), which must be consecutive. Older kernels do not know FEAT_MOPS, and emulate
// branches and adr wrongly. So only arithmetic between registers qualifies.
#include "record/outside/breakpoint_place.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace zerotax::record {
namespace {

using Kind = FirstInstruction::Kind;
using Byte = unsigned char;

/// The beginning of a function's code, followed by zeros. The buffer is longer than any instruction plus the bytes
/// after it that are examined.
using Code = std::array<Byte, 32>;

constexpr std::size_t kMostPrefixes = 8;
constexpr FirstInstruction kUnknownInstruction{};

template <typename Bytes>
bool is_one_of(Byte byte, const Bytes& bytes) {
  return std::find(std::begin(bytes), std::end(bytes), byte) != std::end(bytes);
}

bool is_register(Byte modrm) { return modrm >= 0xc0; }
unsigned middle(Byte modrm) { return modrm >> 3 & 7U; }

/// Returns the length of ModRM and of the bytes that belong to it; 0 if the operand's address is relative to the
/// instruction.
std::size_t operand_bytes(const Byte* at) {
  const unsigned mode = *at >> 6;
  const unsigned base = *at & 7U;
  if (mode == 3) return 1;
  if (mode == 0 && base == 5) return 0;
  const bool has_scale = base == 4;
  const std::size_t bytes = has_scale ? 2 : 1;
  if (mode == 1) return bytes + 1;
  return mode == 2 || (has_scale && (at[1] & 7U) == 5) ? bytes + 4 : bytes;
}

FirstInstruction passed(std::size_t bytes) { return {Kind::kPassed, bytes}; }
FirstInstruction place(std::size_t bytes) { return {Kind::kPlace, bytes}; }

/// Whether the code is a NOP: 90, 66 90, or 0f 1f /0 with any of the prefixes that assemblers use for padding.
FirstInstruction nop(const Byte* code) {
  std::size_t prefixes = 0;
  while (prefixes < kMostPrefixes && (code[prefixes] == 0x66 || code[prefixes] == 0x2e)) ++prefixes;
  const Byte* const at = code + prefixes;
  if (at[0] == 0x90) return passed(prefixes + 1);
  if (at[0] != 0x0f || at[1] != 0x1f || middle(at[2]) != 0) return kUnknownInstruction;
  const std::size_t operand = operand_bytes(at + 2);
  return operand == 0 ? kUnknownInstruction : passed(prefixes + 2 + operand);
}

/// Whether an instruction moves data between vector registers, or from another register into a vector register, and
/// changes nothing else. Map 1 has movd, movq, movdqa, xorps, movaps, pxor and punpckl; map 2 has pshufb, vbroadcastss
/// and vpbroadcast.
bool is_harmless(unsigned map, Byte opcode) {
  constexpr Byte kMap1[] = {0x28, 0x57, 0x60, 0x61, 0x62, 0x6c, 0x6e, 0x6f, 0xef};
  constexpr Byte kMap2[] = {0x00, 0x18, 0x58, 0x59, 0x78, 0x79, 0x7a, 0x7b, 0x7c};
  return map == 1 ? is_one_of(opcode, kMap1) : map == 2 && is_one_of(opcode, kMap2);
}

/// Examines an instruction with the prefix VEX (c5, c4) or EVEX (62).
FirstInstruction vector_instruction(const Byte* code) {
  std::size_t prefix = 0;
  unsigned map = 1;
  if (code[0] == 0xc5) {
    prefix = 2;
  } else if (code[0] == 0xc4) {
    prefix = 3;
    map = code[1] & 0x1fU;
  } else if (code[0] == 0x62 && (code[2] & 4U) != 0) {
    prefix = 4;
    map = code[1] & 0xfU;  // EVEX requires one of these two bits to be 0.
  }
  if (prefix == 0 || !is_harmless(map, code[prefix]) || !is_register(code[prefix + 1])) return kUnknownInstruction;
  return passed(prefix + 2);
}

/// Examines an instruction whose opcode begins with 0f. `code` begins after that byte.
FirstInstruction two_byte_instruction(const Byte* code, std::size_t before, bool has_66) {
  const Byte opcode = code[0];
  if (!is_register(code[1])) return kUnknownInstruction;
  const std::size_t bytes = before + 2;
  if (has_66 && opcode == 0x70) return place(bytes + 1);  // pshufd
  if (has_66 || opcode == 0x28 || opcode == 0x57) return is_harmless(1, opcode) ? place(bytes) : kUnknownInstruction;
  constexpr Byte kMoves[] = {0xaf, 0xb6, 0xb7, 0xbe, 0xbf};  // imul, movzx, movsx
  const bool is_conditional = (opcode & 0xf0U) == 0x40;      // cmov
  return is_conditional || is_one_of(opcode, kMoves) ? place(bytes) : kUnknownInstruction;
}

/// Whether an instruction's operands are registers and numbers only. This includes lea, which reads no memory. `before`
/// is the number of prefix bytes.
FirstInstruction one_byte_instruction(const Byte* code, std::size_t before, Byte rex) {
  const Byte opcode = code[0];
  const std::size_t bytes = before + 1;
  if (opcode >= 0x50 && opcode <= 0x57) return rex == 0 || rex == 0x41 ? place(bytes) : kUnknownInstruction;  // push
  if (opcode >= 0xb0 && opcode <= 0xb7) return place(bytes + 1);                                              // mov
  if (opcode >= 0xb8 && opcode <= 0xbf) return place(bytes + ((rex & 8U) != 0 ? 8 : 4));
  if ((opcode & 0xc7U) == 4) return place(bytes + 1);  // add, or, adc, sbb, and, sub, xor, cmp with %al
  if ((opcode & 0xc7U) == 5) return place(bytes + 4);
  if (opcode == 0x8d) {
    const std::size_t operand = operand_bytes(code + 1);
    return operand == 0 || is_register(code[1]) ? kUnknownInstruction : place(bytes + operand);
  }
  if (!is_register(code[1])) return kUnknownInstruction;
  constexpr Byte kPlain[] = {0x63, 0x84, 0x85, 0x88, 0x89, 0x8a, 0x8b,  // movslq, test, mov
                             0xd0, 0xd1, 0xd2, 0xd3};                   // shifts
  if ((opcode & 0xc4U) == 0 || is_one_of(opcode, kPlain)) return place(bytes + 1);
  constexpr Byte kWithByte[] = {0x80, 0x83, 0xc0, 0xc1};
  if (is_one_of(opcode, kWithByte)) return place(bytes + 2);
  return opcode == 0x81 ? place(bytes + 5) : kUnknownInstruction;
}

struct Encoding {
  std::uint32_t mask;
  std::uint32_t value;
};

constexpr Encoding kHarmless[] = {
    {0xffffff3f, 0xd503241f},  // bti, bti c, bti j, bti jc
    {0xffffffff, 0xd503201f},  // nop
    {0xff3ffc00, 0x05203800},  // dup of a register into a vector of SVE
};

constexpr Encoding kPlaces[] = {
    {0x1f800000, 0x11000000},  // add, sub, cmp with a number
    {0x1f800000, 0x12000000},  // and, orr, eor with a number
    {0x1f800000, 0x12800000},  // mov of a number
    {0x1f800000, 0x13000000},  // bitfields
    {0x1f000000, 0x0a000000},  // and, orr, eor, mov
    {0x1f000000, 0x0b000000},  // add, sub, cmp
    {0x1fe00000, 0x1a800000},  // csel
    {0xbfe0fc00, 0x0e000c00},  // dup of a register into a vector
};

template <typename Encodings>
bool is_one_of(std::uint32_t word, const Encodings& encodings) {
  return std::any_of(std::begin(encodings), std::end(encodings),
                     [&](const Encoding& each) { return (word & each.mask) == each.value; });
}

/// Returns a word of the code, or 0 if the code ends before the word.
std::uint32_t word_at(std::string_view code, std::size_t at) {
  std::uint32_t word = 0;  // the processor is little-endian
  if (at + sizeof word <= code.size()) std::memcpy(&word, code.data() + at, sizeof word);
  return word;
}

std::string_view without(std::string_view code, std::string_view prefix) {
  return code.starts_with(prefix) ? code.substr(prefix.size()) : code;
}

/// Returns the distance of a jmp with a four-byte operand.
std::optional<std::int64_t> x86_jump(std::string_view code, std::size_t at) {
  constexpr std::size_t kBytes = 5;
  if (at + kBytes > code.size() || code[at] != '\xe9') return std::nullopt;
  return static_cast<std::int64_t>(at + kBytes) + static_cast<std::int32_t>(word_at(code, at + 1));
}

/// Returns the distance of a b instruction, whose 26-bit operand counts words.
std::optional<std::int64_t> arm64_jump(std::string_view code, std::size_t at) {
  const std::uint32_t word = word_at(code, at);
  if ((word & 0xfc000000) != 0x14000000) return std::nullopt;
  return static_cast<std::int64_t>(at) + static_cast<std::int32_t>(word << 6) / 16;
}

}  // namespace

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

FirstInstruction x86_instruction(std::string_view text) {
  Code code{};
  std::copy_n(text.begin(), std::min(text.size(), code.size() / 2), code.begin());
  constexpr Byte kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::equal(std::begin(kEndbr64), std::end(kEndbr64), code.begin())) return passed(std::size(kEndbr64));
  for (const auto& form : {nop, vector_instruction}) {
    if (const FirstInstruction found = form(code.data()); found.kind != Kind::kUnknown) return found;
  }
  std::size_t before = 0;
  const bool has_66 = code[0] == 0x66;
  if (has_66) ++before;
  const Byte rex = (code[before] & 0xf0U) == 0x40 ? code[before++] : 0;
  const Byte* const opcode = code.data() + before;
  if (*opcode == 0x0f) return two_byte_instruction(opcode + 1, before + 1, has_66);
  // The prefix 66 shortens immediate operands.
  return has_66 ? kUnknownInstruction : one_byte_instruction(opcode, before, rex);
}

FirstInstruction arm64_instruction(std::string_view code) {
  using enum FirstInstruction::Kind;
  std::uint32_t word = 0;
  constexpr std::size_t kBytes = sizeof word;
  if (code.size() < kBytes) return {};
  for (std::size_t i = kBytes; i-- > 0;) word = word << 8 | static_cast<unsigned char>(code[i]);
  return {is_one_of(word, kHarmless) ? kPassed : is_one_of(word, kPlaces) ? kPlace : kUnknown, kBytes};
}

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
