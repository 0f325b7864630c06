#pragma once

#include <vector>

#include "base/answer.h"
#include "baseline/result.h"

namespace zerotax::baseline {

/// Returns the commands for a change: one that stores the change as the new baseline, and one that finds its origin.
/// Empty if nothing changed. The second command is missing for an improvement, and if zerotax does not know where the
/// versions of the allocator are.
std::vector<Answer::Step> next_steps(const AllocatorCheck& check);
std::vector<Answer::Step> next_steps(const ProgramCheck& check);

}  // namespace zerotax::baseline
