#pragma once

#include <csetjmp>
#include <cstdint>

namespace zerotax::functions {

/// The stack pointer that a jmp_buf of glibc holds; 0 of another C library, and then the reader finds out from the next
/// function that exits.
std::uint64_t stack_of(const __jmp_buf_tag* buffer);

}  // namespace zerotax::functions
