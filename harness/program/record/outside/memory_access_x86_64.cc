// Instructions of x86-64 with an operand in memory, as in the Intel SDM, volume 2. An instruction that both reads and
// writes its operand takes a write fault. If an instruction reads one operand and writes another, the registers must
// show which of them faulted; otherwise, the access is unknown.
#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "record/outside/memory_access.h"

namespace zerotax::record {
namespace {

using Byte = unsigned char;

bool is_among(Byte byte, std::initializer_list<Byte> bytes) {
  return std::find(bytes.begin(), bytes.end(), byte) != bytes.end();
}

Access written_if(bool written) { return written ? Access::kWrite : Access::kRead; }

/// The prefixes of an instruction, or the equivalent fields of a vector encoding.
struct Prefixes {
  Byte mandatory = 0;  ///< 66, f3 or f2; 0: no mandatory prefix
  bool is_vector = false;
  bool is_evex = false;
};

/// Map 0: opcodes of one byte. `modrm`: the byte after the opcode.
Access one_byte(Byte opcode, Byte modrm, const Registers& registers, std::uint64_t address) {
  const unsigned middle = modrm >> 3 & 7U;
  if (is_among(opcode, {0xa6, 0xa7, 0xac, 0xad, 0xae, 0xaf})) return Access::kRead;  // cmps, lods, scas
  if (opcode == 0xaa || opcode == 0xab) return Access::kWrite;                       // stos
  if (opcode == 0xa4 || opcode == 0xa5) {                                            // movs
    constexpr std::uint64_t kNear = 64;  // maximum distance of `address` from a register, because a fast string
                                         // operation may run ahead of its registers
    const auto is_near = [&](std::size_t number) { return address - registers[number] + kNear <= 2 * kNear; };
    const bool to = is_near(kFirstArgument);
    return to == is_near(kSecondArgument) ? Access::kUnknown : written_if(to);
  }
  const bool is_call = opcode == 0xe8 || (opcode == 0xff && modrm >= 0xc0 && middle == 2);
  const bool is_push = (opcode & 0xf8U) == 0x50 || opcode == 0x68 || opcode == 0x6a;
  if (is_call || is_push) return Access::kWrite;
  if ((opcode & 0xf8U) == 0x58 || is_among(opcode, {0xc2, 0xc3, 0xc9})) return Access::kRead;  // pop, ret, leave
  if (modrm >= 0xc0) return Access::kUnknown;
  if ((opcode & 0xc4U) == 0) return written_if((opcode & 2U) == 0 && opcode < 0x38);  // add to cmp
  // movslq, imul, test, mov
  if (is_among(opcode, {0x63, 0x69, 0x6b, 0x84, 0x85, 0x8a, 0x8b, 0x8e})) return Access::kRead;
  // xchg, mov, shifts
  if (is_among(opcode, {0x86, 0x87, 0x88, 0x89, 0x8c, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3}))
    return Access::kWrite;
  if (opcode >= 0x80 && opcode <= 0x83) return written_if(middle != 7);                 // add to cmp
  if (opcode == 0xf6 || opcode == 0xf7) return written_if(middle == 2 || middle == 3);  // not, neg
  if ((opcode == 0xfe || opcode == 0xff) && middle < 2) return Access::kWrite;          // inc, dec
  const bool is_float = opcode == 0xd9 || opcode == 0xdb || opcode == 0xdd;
  if (is_float) return written_if(middle == 1 || (middle & 2U) != 0);  // fisttp, fst, fstp, fnst
  return Access::kUnknown;
}

/// Map 1: opcodes after 0f, and opcodes with map 1 in a vector encoding.
Access two_byte(const Prefixes& prefixes, Byte opcode, Byte modrm) {
  const unsigned middle = modrm >> 3 & 7U;
  if (modrm >= 0xc0) return Access::kUnknown;
  if (is_among(opcode, {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7})) return Access::kWrite;
  if (opcode == 0x7e) return written_if(prefixes.mandatory != 0xf3);  // movd, movq
  if (prefixes.is_vector) {
    if (opcode == 0xae) return written_if(middle == 3);  // vstmxcsr
    return written_if(opcode == 0x91);                   // kmov
  }
  if (opcode == 0xae) {  // fxsave, stmxcsr, xsave, xsaveopt
    return middle > 6 ? Access::kUnknown : written_if(middle == 0 || middle == 3 || middle == 4 || middle == 6);
  }
  if (opcode == 0xc7) return middle == 1 || middle == 4 ? Access::kWrite : Access::kUnknown;  // cmpxchg16b, xsavec
  if (is_among(opcode, {0x00, 0x01, 0x0d, 0x18, 0x1e, 0x1f, 0x78, 0x79})) return Access::kUnknown;
  if (opcode == 0xba) return written_if(middle != 4);  // bts, btr and btc write; bt only reads
  // shifts, bts, cmpxchg, xadd, movnti
  return written_if((opcode & 0xf0U) == 0x90 ||
                    is_among(opcode, {0xa4, 0xa5, 0xab, 0xac, 0xad, 0xb0, 0xb1, 0xb3, 0xbb, 0xc0, 0xc1, 0xc3}));
}

/// Map 2: opcodes after 0f 38, and opcodes with map 2 in a vector encoding.
Access in_map_2(const Prefixes& prefixes, Byte opcode, Byte modrm) {
  if (modrm >= 0xc0) return Access::kUnknown;
  if (!prefixes.is_vector) return written_if((opcode == 0xf1 && prefixes.mandatory != 0xf2) || opcode == 0xf9);
  if (!prefixes.is_evex) return written_if(opcode == 0x2e || opcode == 0x2f || opcode == 0x8e);  // vmaskmov
  // vpmov to a narrower type; compressed and scattered stores
  const bool narrows = opcode >= 0x10 && opcode <= 0x35 && (opcode & 0xfU) < 6 && prefixes.mandatory == 0xf3;
  return written_if(narrows || is_among(opcode, {0x63, 0x8a, 0x8b, 0xa0, 0xa1, 0xa2, 0xa3}));
}

/// Map 3: opcodes after 0f 3a, and opcodes with map 3 in a vector encoding.
Access in_map_3(Byte opcode, Byte modrm) {
  return modrm >= 0xc0 ? Access::kUnknown
                       : written_if(is_among(opcode, {0x14, 0x15, 0x16, 0x17, 0x19, 0x1b, 0x1d, 0x39, 0x3b}));
}

}  // namespace

Access access_of(std::string_view code, const Registers& registers, std::uint64_t address) {
  if (code.size() < kMostCodeBytes) return Access::kUnknown;
  std::array<Byte, 2 * kMostCodeBytes> text{};
  std::copy_n(code.begin(), kMostCodeBytes, text.begin());
  const Byte* at = text.data();
  const Byte* const last = at + kMostCodeBytes;
  Prefixes prefixes;
  for (; at < last; ++at) {
    if (*at == 0x66 || *at == 0xf2 || *at == 0xf3) {
      if (prefixes.mandatory == 0 || *at != 0x66) prefixes.mandatory = *at;
    } else if (!is_among(*at, {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x67, 0xf0})) {
      break;
    }
  }
  if ((*at & 0xf0U) == 0x40) ++at;  // REX
  unsigned map = 0;
  constexpr Byte kMandatory[] = {0, 0x66, 0xf3, 0xf2};
  const auto take_vector = [&](std::size_t bytes, unsigned vector_map, Byte last_prefix) {
    prefixes.is_vector = true;
    prefixes.mandatory = kMandatory[last_prefix & 3U];
    map = vector_map;
    at += bytes;
  };
  if (*at == 0xc5) {
    take_vector(2, 1, at[1]);
  } else if (*at == 0xc4) {
    take_vector(3, at[1] & 0x1fU, at[2]);
  } else if (*at == 0x62) {
    prefixes.is_evex = true;
    take_vector(4, at[1] & 7U, at[2]);
  } else if (*at == 0x0f) {
    map = at[1] == 0x38 ? 2 : at[1] == 0x3a ? 3 : 1;
    at += map == 1 ? 1 : 2;
  }
  if (map == 0) return one_byte(at[0], at[1], registers, address);
  if (map == 1) return two_byte(prefixes, at[0], at[1]);
  if (map == 2) return in_map_2(prefixes, at[0], at[1]);
  return map == 3 ? in_map_3(at[0], at[1]) : Access::kUnknown;
}

std::uint64_t argument_register_mask() {
  return 1U << PERF_REG_X86_AX | 1U << PERF_REG_X86_BX | 1U << PERF_REG_X86_DX | 1U << PERF_REG_X86_SI;
}

std::optional<ArgumentRegisters> take_argument_registers(PerfRecordReader& reader) {
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return std::nullopt;
  ArgumentRegisters found;
  reader.skip(8);  // rax
  found.go_second = reader.take<std::uint64_t>();
  found.third = reader.take<std::uint64_t>();
  found.second = reader.take<std::uint64_t>();
  if (reader.take<std::uint64_t>() < sizeof(std::uint64_t)) return std::nullopt;  // the sample has no stack
  found.back = reader.take<std::uint64_t>();
  return found;
}

}  // namespace zerotax::record
