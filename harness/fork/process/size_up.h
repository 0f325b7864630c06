#pragma once

#include <cstdint>

namespace zerotax {

/// What the process shall have beyond what it needs.
struct TargetSize {
  std::uint64_t populated_bytes = 0;
  enum class Kind { kPrivate, kHuge, kShared, kDontFork } kind = Kind::kPrivate;  ///< of these
  std::uint64_t mappings = 0;  ///< each of one populated page, with a gap behind it
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;  ///< that sleep
};

/// Reads the words NAME=NUMBER and kind=NAME. Returns nullptr, or the word that is none.
const char* parse_size(char** words, TargetSize& size);

/// Gives the process all that. Returns nullptr, or what there was not enough of (errno says why).
const char* size_up(const TargetSize& size);

}  // namespace zerotax
