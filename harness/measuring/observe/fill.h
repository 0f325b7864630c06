#pragma once

#include <cstdint>

namespace zerotax {

/// The kind of fill that a sampled thread was doing. Known only if the thread's innermost function in user mode is
/// memset or bzero.
enum class Fill {
  kNone,     ///< not filling memory
  kZeros,    ///< bzero, or memset of 0
  kOther,    ///< memset of another byte
  kUnknown,  ///< memset that may have overwritten the register of its second argument, so that the byte is unknown
};

/// Returns whether this process's memset leaves its second argument in the register while it works, for sizes from 1
/// byte to 64 MiB. The first call tests memset with values that show whether the register was changed. Functions do not
/// restore argument registers, so a value that is still there at the end was never overwritten. Of glibc's variants,
/// only __memset_avx512_no_vzeroupper on x86-64 overwrites the register.
bool memset_keeps_its_value();

/// Returns the kind of fill from the register of memset's second argument. Requires a memset that keeps the argument in
/// this register.
Fill fill_of_register(std::uint64_t value);

}  // namespace zerotax
