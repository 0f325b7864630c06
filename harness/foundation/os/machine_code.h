#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/processor.h"

namespace zerotax {

// What instructions of the processor say: of a call, and of a stub of the procedure linkage table.

/// Bytes before an address that the call there may take.
#if defined(__x86_64__)
inline constexpr std::size_t kCallBytes = 7;
inline constexpr std::size_t kStubBytes = 11;
#else
inline constexpr std::size_t kCallBytes = 4;
inline constexpr std::size_t kStubBytes = 16;
#endif

/// Where a call leads to.
struct CallTarget {
  enum class Kind {
    kNone,      ///< it is no call
    kFunction,  ///< to the address
    kSlot,      ///< to what is stored at the address
    kRegister,  ///< to where a register says
  };
  Kind kind = Kind::kNone;
  std::uint64_t address = 0;
};

/// The call that ends at `address`, of the kCallBytes before it.
CallTarget call_ending_at(std::uint64_t address, const unsigned char* code);

/// The slot with the address of the function that a stub leads to, if the kStubBytes at `address` are one.
std::optional<std::uint64_t> slot_of_stub(std::uint64_t address, const unsigned char* code);

}  // namespace zerotax
