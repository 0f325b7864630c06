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

/// Runs it once, and while a metric lies outside its range on the same side each time, up to two times more, or four if
/// it varied in the baseline.
Judged judge(const Program& baseline, const Runner& run);

/// Compares what runs of two programs showed: of the later one, in each metric, the value nearest to the earlier range.
Judged compare(const Program& before, const Program& after);

/// What was compared, with changes, places that differ, conditions, verdict and sentence. `same` is the sentence of a
/// command without changes, after the number of metrics: "as in the baseline".
Check check_of(const Program& baseline, Judged judged, const Json& measured_on, const std::string& same);

/// Several commands with the verdict of all.
Checks checks_of(std::vector<Check> checks);

}  // namespace zerotax::programs
