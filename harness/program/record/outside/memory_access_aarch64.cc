// Loads and stores of arm64, as in the Arm Architecture Reference Manual, chapter C4.1.
#include <linux/perf_event.h>

#include <cstring>

#include "os/processor.h"
#include "record/outside/memory_access.h"

namespace zerotax::record {
namespace {

constexpr std::uint32_t kZeroBlock = 0xd50b7420;  // dc zva, x0
constexpr std::uint32_t kLoadBit = std::uint32_t{1} << 22;

Access by_load_bit(std::uint32_t word) { return (word & kLoadBit) != 0 ? Access::kRead : Access::kWrite; }

/// A load or store of one register, or an atomic operation.
Access of_one_register(std::uint32_t word) {
  const bool is_vector = (word >> 26 & 1U) != 0;
  const bool is_atomic = (word >> 24 & 1U) == 0 && (word >> 21 & 1U) != 0 && (word >> 10 & 3U) == 0;
  if (is_atomic) return is_vector || (word & 0xf000U) == 0xc000U ? Access::kUnknown : Access::kWrite;  // ldapr
  const bool is_signed_pointer = (word >> 24 & 1U) == 0 && (word >> 21 & 1U) != 0 && (word >> 10 & 1U) != 0;
  if (is_signed_pointer) return Access::kUnknown;  // ldraa
  if (is_vector) return by_load_bit(word);
  return (word >> 22 & 3U) == 0 ? Access::kWrite : Access::kRead;
}

}  // namespace

Access access_of(std::string_view code, const Registers& /*registers*/, std::uint64_t /*address*/) {
  std::uint32_t word = 0;
  if (code.size() < sizeof word) return Access::kUnknown;
  std::memcpy(&word, code.data(), sizeof word);
  if ((word & 0xffffffe0U) == kZeroBlock) return Access::kWrite;
  if ((word & 0x0a000000U) != 0x08000000U) return Access::kUnknown;
  switch (word >> 27 & 7U) {  // including bit 26 (vector) and bits 25 and 24
    case 1:                   // exclusive or ordered access, or compare and swap; with vector registers, a structure
      if ((word >> 26 & 1U) != 0) return by_load_bit(word);
      if ((word >> 24 & 1U) != 0) return Access::kUnknown;
      if ((word >> 21 & 5U) == 5 || ((word >> 21 & 5U) == 1 && word >> 31 == 0)) return Access::kWrite;  // cas, casp
      return by_load_bit(word);
    case 3:  // address relative to the instruction
      return (word >> 24 & 1U) == 0 ? Access::kRead : Access::kUnknown;
    case 5:  // a pair
      return by_load_bit(word);
    default:
      return of_one_register(word);
  }
}

/// The argument registers x1 and x2, and the link register. Go's convention passes the second and third argument in the
/// same registers as C.
std::uint64_t argument_register_mask() { return 1U << kSecondArgument | 1U << kThirdArgument | 1U << kLinkRegister; }

std::optional<ArgumentRegisters> take_argument_registers(PerfRecordReader& reader) {
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return std::nullopt;
  ArgumentRegisters found;
  found.second = found.go_second = reader.take<std::uint64_t>();
  found.third = reader.take<std::uint64_t>();
  found.back = reader.take<std::uint64_t>();
  return found;
}

}  // namespace zerotax::record
