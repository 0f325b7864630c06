#pragma once

#include <cstdint>

namespace zerotax {

/// What a sampled thread was filling memory with, if its innermost function in user mode is a memset or bzero.
enum class Fill {
  kNone,     ///< it was not
  kZeros,    ///< bzero, or memset of 0
  kOther,    ///< memset of another byte
  kUnknown,  ///< a memset of which it is not known whether it keeps its argument
};

/// Whether the memset that this process uses leaves its second argument in its register while it works, for every size
/// from 1 byte to 64 MiB: it is called, once, with values of which what is left in the register shows. (No function
/// puts back an argument register that it has used for something else: what is there at the end was there all the
/// time.) True of glibc's variants for x86-64 but one, __memset_avx512_no_vzeroupper, and of those for arm64.
bool memset_keeps_its_value();

/// The fill by a memset that does, from that register.
Fill fill_of_register(std::uint64_t value);

}  // namespace zerotax
