#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
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
  std::vector<std::string> sweep;
  std::string read;
  SnapshotPlan plan;
};

/// Whether anything failed, of "results" or of "rows".
ExitStatus status_of(const Json& results);

/// `zerotax snapshot --sweep`. Throws as the command.
ExitStatus run_sweep_command(const Options& options);

}  // namespace zerotax::snapshot
