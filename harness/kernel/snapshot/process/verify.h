#pragma once

#include <cstdint>
#include <vector>

#include "snapshot/process/control.h"
#include "snapshot/process/writers.h"

namespace snapshot {

/// What a snapshot was found to be.
struct Verdict {
  std::uint64_t checked = 0;  ///< elements
  std::uint64_t wrong = 0;
  std::uint64_t first_wrong = 0;  ///< its index
};

/// Fills the array with its first generation.
void fill(const Job& job);

/// Compares each element of the snapshot with what it was when the writers stood there.
Verdict verify(const Job& job, const std::vector<Position>& positions);

}  // namespace snapshot
