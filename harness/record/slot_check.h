#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"

namespace zerotax::record {

/// Ends a text of the arena within its field.
template <std::size_t kRoom>
void end_text(char (&field)[kRoom]) {
  if (field[kRoom - 1] != '\0') field[kRoom - 1] = '\0';
}

/// Nanoseconds of any clock, also of one that a program has set: differences of two such times are numbers, too.
inline bool is_time(std::int64_t ns) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  return ns > -kMost && ns < kMost;
}

/// Ends all texts of a copied slot within their fields. Returns false if it holds something that the library of record
/// never writes: an unknown kind or state, a length beyond its table, a count that no process reaches.
bool is_whole(ProcessSlot& slot);

}  // namespace zerotax::record
