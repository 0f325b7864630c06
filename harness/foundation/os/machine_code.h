#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "os/processor.h"

namespace zerotax {

// Decodes processor instructions: a call, and a stub of the procedure linkage table.

/// Maximum bytes of a call instruction, and of a stub.
#if defined(__x86_64__)
inline constexpr std::size_t kCallBytes = 7;
inline constexpr std::size_t kStubBytes = 11;
#else
inline constexpr std::size_t kCallBytes = 4;
inline constexpr std::size_t kStubBytes = 16;
#endif

/// The target of a call.
struct CallTarget {
  enum class Kind {
    kNone,      ///< the instruction is not a call
    kFunction,  ///< the function at `address`
    kSlot,      ///< the function whose address is stored at `address`
    kRegister,  ///< the function whose address is in a register
  };
  Kind kind = Kind::kNone;
  std::uint64_t address = 0;
};

/// Returns the call that ends at `address`, given the kCallBytes before it.
CallTarget call_ending_at(std::uint64_t address, const unsigned char* code);

/// Returns the slot that contains the function's address, if the kStubBytes at `address` are a stub.
std::optional<std::uint64_t> slot_of_stub(std::uint64_t address, const unsigned char* code);

}  // namespace zerotax
