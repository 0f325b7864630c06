#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include "record/outside/argument_registers.h"

namespace zerotax::record {

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
  if (reader.take<std::uint64_t>() < sizeof(std::uint64_t)) return std::nullopt;  // no stack
  found.back = reader.take<std::uint64_t>();
  return found;
}

}  // namespace zerotax::record
