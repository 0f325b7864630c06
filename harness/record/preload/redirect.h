#pragma once

#include <cstddef>

namespace zerotax::record {

/// Sends every call of a function of the C library to `replacement`, its own internal calls included, which no
/// preloaded function and no table of addresses stands in: the first instructions become a jump. `way` is set to the
/// way to the original before that. Returns it, or nullptr if that cannot be done: other instructions than those known
/// at its start, more than 2 GiB away, or code that may not be written to. x86-64 only. Each function at most once,
/// before the program's own threads run.
void* redirect(void* function, void* replacement, void** way);

/// Bytes at the start of `code` that may be run at another place, at least the five that a jump takes; 0 if they are
/// not among the known ways in which a C library's wrapper of a system call begins. Reads at most 16 bytes.
std::size_t movable_prologue(const unsigned char* code);

}  // namespace zerotax::record
