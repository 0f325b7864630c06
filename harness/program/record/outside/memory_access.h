#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "os/perf_event.h"
#include "os/processor.h"

namespace zerotax::record {

/// The access of an instruction to memory.
enum class Access {
  kUnknown,
  kRead,   ///< read: in fresh memory, the fault maps the shared page of zeros, and the kernel zeroes nothing
  kWrite,  ///< write: in fresh memory, the fault maps a new page, which the kernel zeroes
};

/// Bytes of the longest instruction.
inline constexpr std::size_t kMostCodeBytes = 16;

/// Returns how the first instruction of `code` accesses `address`; unknown if `code` has fewer than kMostCodeBytes.
Access access_of(std::string_view code, const Registers& registers, std::uint64_t address);

/// Arguments of a function, read at its first instruction.
struct ArgumentRegisters {
  std::uint64_t second = 0;     ///< second argument in the C calling convention
  std::uint64_t third = 0;      ///< third argument in the C calling convention
  std::uint64_t go_second = 0;  ///< second argument in Go's convention (1.17 and later)
  std::uint64_t back = 0;       ///< return address of the function
};

/// Returns the value that perf_event_attr::sample_regs_user needs. Samples must also contain one word of the stack.
std::uint64_t argument_register_mask();

/// Reads the registers and the stack word from a sample. Returns nothing if the sample has no part from user mode.
std::optional<ArgumentRegisters> take_argument_registers(PerfRecordReader& reader);

}  // namespace zerotax::record
