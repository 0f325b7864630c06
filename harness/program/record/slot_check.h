#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Terminates a text of the arena within its field.
template <std::size_t kRoom>
void end_text(char (&field)[kRoom]) {
  if (field[kRoom - 1] != '\0') field[kRoom - 1] = '\0';
}

/// Whether a value is a time in nanoseconds, by any clock, even one that a program set. Differences of two valid times
/// do not overflow.
inline bool is_time(std::int64_t ns) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  return ns > -kMost && ns < kMost;
}

/// Terminates all texts of a copied slot within their fields. Returns false if the slot holds a value that the
/// recording library never writes: an unknown kind or state, a length beyond its table, a count that no process
/// reaches.
bool is_whole(ProcessSlot& slot);

}  // namespace zerotax::record
