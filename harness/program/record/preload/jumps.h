#pragma once

#include <cstddef>

namespace zerotax::record {

// The jumps that Redirector writes, and the instructions that it may move.

/// Bytes of a jump.
#if defined(__x86_64__)
inline constexpr std::size_t kJumpBytes = 5;
#else
inline constexpr std::size_t kJumpBytes = 4;
#endif

/// At the start of a function.
struct Prologue {
  std::size_t kept = 0;   ///< bytes that stay: a mark for indirect calls
  std::size_t moved = 0;  ///< bytes behind them that may be run at another place, at least kJumpBytes; 0: not known
};

/// Reads at most 16 bytes.
Prologue prologue_of(const unsigned char* code);

/// Writes to `at` a jump as it is to stand at `from`; returns false if the target is too far away.
bool make_jump(unsigned char* at, const void* from, const void* target);

/// The function that the first call by address near the start of `code` calls; nullptr where libraries call their own
/// functions through slots, or there is none within 64 bytes.
void* first_called(const unsigned char* code);

/// After code was written: what the processor fetches from there is the new one.
void show_code(const unsigned char* code, std::size_t bytes);

}  // namespace zerotax::record
