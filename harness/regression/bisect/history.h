#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bisect/question.h"
#include "bisect/versions.h"
#include "run/fleet/fleet.h"

namespace zerotax::bisect {

/// The versions to build and measure, with all settings that a task of a fleet needs.
struct VersionPlan {
  std::string repository;  ///< folder of the repository
  std::string cache;       ///< folder of the cache
  Recipe recipe;
  Grid grid;
  unsigned jobs = 1;  ///< number of jobs of one build
  double build_timeout_s = 1800;
  std::vector<Commit> commits;
};

/// The versions of a plan. Each result is a version with its build and measurement (document.h).
class VersionWork : public fleet::Work {
 public:
  explicit VersionWork(VersionPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] std::string title() const override { return "versions"; }
  /// Throws UsageError if there is no repository, and MachineError without git or a tool of the recipe.
  [[nodiscard]] std::vector<Item> items() const override;
  /// Returns false, because versions are compared only by counts.
  [[nodiscard]] bool is_timed() const override { return false; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] unsigned cpus() const override { return plan_.jobs; }

 private:
  VersionPlan plan_;
};

/// The versions that a job of a fleet built and measured.
struct MeasuredVersions {
  std::map<std::string, Version> by_commit;
  std::map<std::string, Environment> environments;  ///< environments of the hosts, by name
};

/// Builds and measures versions as a Slurm job, one per task, in a results folder that every node sees. A signal ends
/// the job early. Throws the same errors as fleet::run.
MeasuredVersions measure_on_slurm(const VersionPlan& plan, const fleet::Place& place, const std::string& results);

/// One row: a version, and the changes since the last measured version before it.
struct Row {
  Version version;
  std::string compared_with;             ///< name of the last measured version before this one; empty for the first
                                         ///< measured version
  std::optional<Difference> difference;  ///< set if both versions were measured

  [[nodiscard]] bool is_change() const { return difference && difference->is_change(); }
};

/// A history, as far as it was measured.
struct History {
  std::vector<Row> rows;
  bool complete = true;
  std::map<std::string, Environment> environments;  ///< environments of the hosts of a fleet, by name
};

/// Builds, measures and compares versions in this order, with progress. Versions that a fleet has measured are only
/// compared. A signal ends the history early: the remaining versions are rows without a measurement.
History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid,
                    const MeasuredVersions& measured = {});

}  // namespace zerotax::bisect
