#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bisect/bisect.h"

namespace zerotax::bisect {

/// What `git bisect` found on a line of first parents.
struct LineFound {
  std::optional<Commit> first;     ///< whose answer is that of the end of the line
  std::vector<Commit> candidates;  ///< if that cannot be decided
};

/// Bisects the first parents of `to` that `from` has not, by the steps of `git bisect`. `from` answers as before the
/// change, `to` as after it; `is_fix`: "after" is good. `ask` answers for a version. Throws what `ask` throws, and
/// MachineError for what stops git.
LineFound bisect_line(const BisectSetup& setup, const Commit& from, const Commit& to, bool is_fix,
                      const std::function<Answer(const Commit& commit)>& ask);

}  // namespace zerotax::bisect
