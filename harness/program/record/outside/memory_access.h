#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "os/perf_event.h"
#include "os/processor.h"

namespace zerotax::record {

/// The access to memory that an instruction makes.
enum class Access {
  kUnknown,
  kRead,   ///< a fault in fresh memory gets the shared page of zeros, and the kernel zeroes nothing
  kWrite,  ///< a fault in fresh memory gets a page of its own, which the kernel zeroes
};

/// The length of the longest instruction.
inline constexpr std::size_t kMostCodeBytes = 16;

/// The access to `address` of the instruction at the begin of `code`. Unknown if `code` has less than kMostCodeBytes.
Access access_of(std::string_view code, const Registers& registers, std::uint64_t address);

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
