// Instructions of arm64, by the encodings in the Arm Architecture Reference Manual (DDI 0487, chapter C4).
// arch/arm64/kernel/probes/decode-insn.c, read in Linux 6.12, determines how the kernel treats an instruction with a
// breakpoint. arm_probe_decode_insn() emulates branches and adr. It refuses loads of literals, exclusive loads
// and stores, and the three instructions of a memory copy or set (FEAT_MOPS), which must stand side by side. Older
// kernels do not know the last group, and emulated the first group wrongly. So only arithmetic between registers
// qualifies.

#include <algorithm>
#include <iterator>

#include "record/outside/breakpoint_place.h"

namespace zerotax::record {
namespace {

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

}  // namespace

FirstInstruction arm64_instruction(std::string_view code) {
  using enum FirstInstruction::Kind;
  std::uint32_t word = 0;
  constexpr std::size_t kBytes = sizeof word;
  if (code.size() < kBytes) return {};
  for (std::size_t i = kBytes; i-- > 0;) word = word << 8 | static_cast<unsigned char>(code[i]);
  return {is_one_of(word, kHarmless) ? kPassed : is_one_of(word, kPlaces) ? kPlace : kUnknown, kBytes};
}

}  // namespace zerotax::record
