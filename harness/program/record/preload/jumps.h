#pragma once

#include <cstddef>

namespace zerotax::record {

// Jumps that Redirector writes, and instructions that it may move.

/// Length of a jump in bytes.
#if defined(__x86_64__)
inline constexpr std::size_t kJumpBytes = 5;
#else
inline constexpr std::size_t kJumpBytes = 4;
#endif

/// The start of a function.
struct Prologue {
  std::size_t kept = 0;   ///< bytes that stay in place: a mark for indirect calls
  std::size_t moved = 0;  ///< bytes after the mark that may run at another address, at least kJumpBytes; 0: unknown
                          ///< instructions
};

/// Examines the start of a function. Reads at most 16 bytes.
Prologue prologue_of(const unsigned char* code);

/// Writes to `at` a jump that will run at `from`. Returns false if the target is too far away.
bool make_jump(unsigned char* at, const void* from, const void* target);

/// Returns the target of the first direct call near the start of `code`. Returns nullptr if there is no call within 64
/// bytes, or if libraries call their own functions through slots.
void* first_called(const unsigned char* code);

/// Makes the processor fetch newly written code.
void show_code(const unsigned char* code, std::size_t bytes);

}  // namespace zerotax::record
