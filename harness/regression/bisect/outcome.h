#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bisect/bisect.h"
#include "judge/document.h"

namespace zerotax::bisect {

/// What the commit that a bisection found has done.
struct BisectOutcome {
  Commit before;  ///< its first parent
  Answer before_answer;
  Answer after_answer;
  std::optional<Difference>
      difference;                 ///< of all metrics of the grid, from before to after; nothing if one was not measured
  std::vector<Finding> findings;  ///< that it has and its parent has not; of a fix, the reverse
  std::string version;            ///< as the library says
  std::string library;            ///< path of what was built of it, in the cache
  std::string diffstat;           ///< of the commit that did it
};

/// Measures it beside its parent. `found.first` is there. Throws Stop.
BisectOutcome outcome_of(const BisectSetup& setup, const Bisection& found);

}  // namespace zerotax::bisect
