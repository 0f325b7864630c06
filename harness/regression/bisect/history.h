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

/// Which versions are built and measured, and how: all that a task of a fleet has to know.
struct VersionPlan {
  std::string repository;  ///< its folder
  std::string cache;       ///< its folder
  Recipe recipe;
  Grid grid;
  unsigned jobs = 1;  ///< what a build may do at the same time
  double build_timeout_s = 1800;
  std::vector<Commit> commits;
};

/// The versions of a plan, each with what became of it (document.h).
class VersionWork : public fleet::Work {
 public:
  explicit VersionWork(VersionPlan plan) : plan_(std::move(plan)) {}

  [[nodiscard]] std::string title() const override { return "versions"; }
  /// Throw UsageError if there is no repository, MachineError without git or a tool of the recipe.
  [[nodiscard]] std::vector<Item> items() const override;
  /// Versions are compared by counts alone.
  [[nodiscard]] bool is_timed() const override { return false; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] unsigned cpus() const override { return plan_.jobs; }

 private:
  VersionPlan plan_;
};

/// What a job of a fleet made of versions.
struct MeasuredVersions {
  std::map<std::string, Version> by_commit;
  std::map<std::string, Environment> environments;  ///< of the hosts, by name
};

/// Builds and measures versions as a Slurm job, one a task, in a results folder that every node sees. A signal ends it
/// early. Throws as fleet::run.
MeasuredVersions measure_on_slurm(const VersionPlan& plan, const fleet::Place& place, const std::string& results);

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
