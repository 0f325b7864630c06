#pragma once

#include <string>
#include <vector>

#include "bisect/difference.h"
#include "bisect/version_work.h"

namespace zerotax::bisect {

/// One row: a version, and what it changed against the one measured before it.
struct Row {
  Version version;
  std::string compared_with;             ///< name of that version; empty if there is none
  std::optional<Difference> difference;  ///< there if both were measured

  [[nodiscard]] bool is_change() const { return difference && difference->is_change(); }
};

/// A history as far as it was measured.
struct History {
  std::vector<Row> rows;
  bool complete = true;
  std::map<std::string, Environment> environments;  ///< of the hosts of a fleet, by name
};

/// Builds, measures and compares versions in this order, with progress; those that a fleet has measured are only
/// compared. A signal ends it early: the versions that are left are rows without a measurement.
History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid,
                    const MeasuredVersions& measured = {});

}  // namespace zerotax::bisect
