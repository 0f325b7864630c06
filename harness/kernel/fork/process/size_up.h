#pragma once

#include <cstdint>

namespace zerotax {

/// The memory and other resources that the process gets beyond what it needs.
struct TargetSize {
  std::uint64_t populated_bytes = 0;
  enum class Kind { kPrivate, kHuge, kShared, kDontFork } kind = Kind::kPrivate;  ///< of these
  std::uint64_t mappings = 0;  ///< each of one populated page, followed by a gap
  std::uint64_t descriptors = 0;
  std::uint64_t threads = 0;  ///< sleeping
};

/// Reads the words NAME=NUMBER and kind=NAME. Returns nullptr, or the invalid word.
const char* parse_size(char** words, TargetSize& size);

/// Gives the process all of that. Returns nullptr, or what ran short (errno says why).
const char* size_up(const TargetSize& size);

}  // namespace zerotax
