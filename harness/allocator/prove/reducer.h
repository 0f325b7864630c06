#pragma once

#include <cstddef>
#include <functional>

#include "prove/record_file.h"

namespace zerotax::prove {

/// The effort of a reduction.
struct Reduction {
  Ops ops;
  std::size_t before = 0;  ///< operations before the reduction
  std::size_t tries = 0;
};

/// Whether operations still show the finding.
using Shows = std::function<bool(const Ops& ops)>;

/// Reduces operations to the fewest that still show a finding. Drops blocks, then operations, by delta debugging
/// (Zeller and Hildebrandt, 2002), then simplifies sizes, fills and threads. Ends early once `is_over` returns true.
/// `ops` must show the finding.
Reduction reduce(const Ops& ops, const Shows& shows, const std::function<bool()>& is_over);

}  // namespace zerotax::prove
