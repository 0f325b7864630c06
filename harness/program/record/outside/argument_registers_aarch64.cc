#include <linux/perf_event.h>

#include "os/processor.h"
#include "record/outside/argument_registers.h"

namespace zerotax::record {

/// x1, x2 and the link register. Go's convention has its arguments in the same ones.
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
