#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace zerotax::record
