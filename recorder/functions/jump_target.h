#pragma once

#include <csetjmp>
#include <cstdint>

namespace zerotax::functions {

/// Returns the stack pointer in a jmp_buf of glibc. Returns 0 for another C library; the reader then infers the stack
/// pointer from the next function that exits.
std::uint64_t stack_of(const __jmp_buf_tag* buffer);

}  // namespace zerotax::functions
