#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace zerotax {

/// Whether something holds at a point: what is not known is neither yes nor no.
enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

/// Neighbouring sizes of the measured grid, both ends included, in bytes.
struct SizeSpan {
  std::uint64_t from;
  std::uint64_t to;
};

/// The sizes at which something holds.
struct SizeRanges {
  std::vector<SizeSpan> spans;         ///< where it does, ascending
  std::vector<std::uint64_t> known;    ///< sizes with an answer, ascending
  std::vector<std::uint64_t> unknown;  ///< sizes without one

  /// "always", "some", "never", or "unknown" where no size has an answer. A size without an answer allows no "always".
  [[nodiscard]] const char* word() const;
};

/// This is the one place that decides what a range is: sizes that were measured next to each other and hold. A size
/// without an answer ends a range, whether its point was n/a or came to no result: nobody knows what happens there.
SizeRanges ranges_of(const std::map<std::uint64_t, Answer>& sizes);

}  // namespace zerotax
