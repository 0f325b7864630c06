#pragma once

#include "programs/gather.h"

namespace zerotax::programs {

/// The basis for judging a command with changes.
struct Judged {
  CommandRun first;
  std::uint64_t runs = 0;
  std::vector<Change> changes;
  std::vector<NotCompared> not_compared;
};

/// Runs it once, and while a metric lies outside its range on the same side each time, up to two times more.
Judged judge(const Program& baseline, const Runner& run);

/// Of all changes: what only says how counts where nothing that costs changed.
Verdict verdict_of(const std::vector<Change>& changes);

}  // namespace zerotax::programs
