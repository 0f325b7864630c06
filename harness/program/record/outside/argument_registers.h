#pragma once

#include <cstdint>
#include <optional>

#include "os/perf_event.h"

namespace zerotax::record {

/// Arguments of a function at its first instruction.
struct ArgumentRegisters {
  std::uint64_t second = 0;     ///< by the C calling convention
  std::uint64_t third = 0;      ///< likewise
  std::uint64_t go_second = 0;  ///< by Go's (1.17 and later)
  std::uint64_t back = 0;       ///< where the function returns to
};

/// What perf_event_attr::sample_regs_user must be; of the stack, one word must be copied.
std::uint64_t argument_register_mask();

/// Takes both off a sample. Nothing if it was taken where there is no user mode.
std::optional<ArgumentRegisters> take_argument_registers(PerfRecordReader& reader);

}  // namespace zerotax::record
