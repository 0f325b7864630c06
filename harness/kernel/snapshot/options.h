#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/measure_options.h"
#include "snapshot/session.h"

namespace zerotax::snapshot {

/// What `zerotax snapshot` was given.
struct Options {
  MeasureOptions measure;
  std::string size = "1GiB";
  std::string batch = "2MiB";
  std::vector<std::string> alternatives;
  bool remedies = false;
  bool published = false;
  std::string svg;
  bool plot = false;
  double hold = -1;
  std::vector<std::string> sweep;
  std::string read;
  SnapshotPlan plan;
};

/// Whether anything failed, of results or of rows.
template <typename Each>
ExitStatus exit_status_of(const std::vector<Each>& results) {
  const bool found = std::any_of(results.begin(), results.end(),
                                 [](const Each& each) { return !each.ok() && each.status != Status::kSkipped; });
  return found ? ExitStatus::kFinding : ExitStatus::kDone;
}

/// The plan that was given, with its sizes; nothing is checked, and there are no allocators and alternatives.
SnapshotPlan sized_plan(const Options& options);

/// Throws UsageError.
std::vector<Allocator> allocators_of(const Options& options);

/// `zerotax snapshot --sweep`. Throws as the command.
ExitStatus run_sweep_command(const Options& options);

}  // namespace zerotax::snapshot
