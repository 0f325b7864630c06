#pragma once

#include <string>

#include "point/plan.h"

namespace zerotax::study {

/// In a results folder: what became of real programs (replay/result.h).
inline constexpr const char* kWorkloadsFile = "workloads.json";

/// Throws UsageError if the folder has such a file that cannot be continued.
void check_workloads(const std::string& folder);

/// What replays showed: a table and a sentence, empty if nothing was replayed; and the number of the signal that ended
/// them early, or 0.
struct ReplayedWorkloads {
  std::string text;
  int signal = 0;
};

/// Replays the recordings of replay/workloads under the plan's allocators, unless the folder's file has the result
/// already, and adds each result to that file. Reports which allocators cannot be preloaded and are left out.
ReplayedWorkloads replay_workloads(const Plan& plan, const std::string& folder);

}  // namespace zerotax::study
