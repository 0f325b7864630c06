#include "os/user_stack.h"

#include <linux/perf_event.h>

#include <iterator>

namespace zerotax {
namespace {

constexpr std::uint64_t mask_of_registers() {
  std::uint64_t mask = 0;
  for (const unsigned bit : kRegisterBits) mask |= std::uint64_t{1} << bit;
  return mask;
}
constexpr std::uint64_t kRegisterMask = mask_of_registers();

}  // namespace

std::uint64_t user_register_mask() { return kRegisterMask; }

bool take_user_stack(PerfRecordReader& reader, UserStack& to) {
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return false;
  std::uint64_t by_bit[64]{};
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((kRegisterMask >> bit & 1) != 0) by_bit[bit] = reader.take<std::uint64_t>();
  }
  for (std::size_t i = 0; i < std::size(kRegisterBits); ++i) to.registers[i] = by_bit[kRegisterBits[i]];
  const auto room = reader.take<std::uint64_t>();
  const unsigned char* stack = reader.at();
  reader.skip(room);
  const auto used = room > 0 ? reader.take<std::uint64_t>() : 0;
  if (used <= room) to.stack.assign(stack, stack + used);
  return true;
}

}  // namespace zerotax
