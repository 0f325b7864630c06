#pragma once

#include <functional>
#include <string>
#include <vector>

#include "baseline/baseline.h"
#include "bisect/versions.h"

namespace zerotax::bisect {

/// What one version does otherwise than another.
struct Difference {
  std::vector<std::string> changes;   ///< that lasted when both were measured again, a line each
  std::vector<std::string> unsteady;  ///< names of metrics that differed once, and not again
  std::string verdict;                ///< as `check` has it
  bool passes = true;                 ///< `check` would exit with 0
  std::string sentence;

  [[nodiscard]] bool is_change() const { return !changes.empty(); }
};

/// Compares two measured versions; of a program, what their runs showed. Points that differ are measured again, for the
/// later version as check does, and then for the earlier one: if a point is not the same each time, it is no change.
/// Throws Stop.
Difference difference_between(const Versions& versions, Version& before, Version& after, const Grid& grid,
                              const std::function<void(const char* what)>& watch);

}  // namespace zerotax::bisect
