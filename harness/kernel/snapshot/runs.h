#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapshot/result.h"

namespace zerotax::snapshot {

/// One run of a plan.
struct SnapshotStep {
  std::size_t allocator;
  std::size_t alternative;
  SnapshotPass pass;
  bool held;  ///< whether the writers were held until the child had ended
};

/// Collects the runs of `zerotax snapshot` into one result for each allocator and alternative.
class SnapshotRuns {
 public:
  explicit SnapshotRuns(const SnapshotPlan& plan);

  /// Adds a run. Returns whether to continue with this allocator and alternative; after a failed run, further runs are
  /// not needed.
  bool take(const SnapshotStep& step, const SnapshotRun& run);

  /// Returns the whole result except the verdict and the environment.
  [[nodiscard]] Snapshot result(bool complete) const;
  [[nodiscard]] Result result_of(std::size_t allocator, std::size_t alternative) const;

 private:
  struct Taken {
    std::optional<Status> status;  ///< no value if nothing was run
    std::string reason;
    std::vector<SnapshotRun> timing;       ///< timing runs, without faults and samples
    std::vector<SnapshotRun> held_timing;  ///< timing runs with the writers held until the child had ended
    Figures figures;                       ///< metrics of the other passes
    std::int64_t checked_elements = 0;
    bool takes_snapshot = false;
    bool has_child = false;
  };

  [[nodiscard]] const Taken& at(std::size_t allocator, std::size_t alternative) const {
    return taken_[allocator * plan_.alternatives.size() + alternative];
  }
  [[nodiscard]] Measured<double> slowdown(std::size_t allocator, std::size_t alternative) const;
  [[nodiscard]] Figures figures(std::size_t allocator, std::size_t alternative) const;

  SnapshotPlan plan_;
  std::vector<Taken> taken_;
};

/// Carries out a plan, one run at a time, with interleaved alternatives. The timing runs come first, then one run of
/// each other pass. An alternative with a child also has held timing runs, and a second, held run of the passes for
/// faults and for samples.
/// A pass that this machine does not permit gets the status kNotWatched. The result lacks its verdict and environment.
Snapshot run_snapshots(const SnapshotPlan& plan);

/// The faults of a run, from the instant of the snapshot to the writers' end. These are the parent's faults on the
/// array, before and after the end of the child (or of the copying threads), and over time. The parent's other faults,
/// the child's faults and the kernel's own count follow. n/a if an ordinary user cannot see enough of the faults.
Measured<Faults> faults_of(const SnapshotRun& run);

/// The parent's CPU time from the instant of the snapshot to the writers' end, before and after the child's end. The
/// time is divided into user mode and sections of the kernel. The child's CPU time in that period is included, too.
Measured<Cpu> cpu_of(const SnapshotRun& run);

/// The CPU time of the program and its child in each interval between two samples of a run, as a monitor such as htop
/// shows CPU time.
Measured<CpuTime> cpu_time_of(const SnapshotRun& run);

}  // namespace zerotax::snapshot
