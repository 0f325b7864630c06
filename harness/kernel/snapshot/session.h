#pragma once

#include <functional>
#include <string>
#include <vector>

#include "snapshot/run.h"

namespace zerotax::snapshot {

/// All that `zerotax snapshot` runs.
struct SnapshotPlan {
  std::vector<Allocator> allocators;
  std::vector<SnapshotAlternative> alternatives;
  SnapshotParameters parameters;
  SnapshotParameters published;  ///< of alternatives that are published
  unsigned repeat = 3;           ///< timing runs of each
  double timeout_s = 60;

  [[nodiscard]] const SnapshotParameters& parameters_of(const SnapshotAlternative& alternative) const {
    return alternative.published ? published : parameters;
  }
  /// Of memory, in sizes of the array, at most.
  [[nodiscard]] unsigned sizes() const;
};

/// One run of it.
struct SnapshotStep {
  std::size_t allocator;
  std::size_t alternative;
  SnapshotPass pass;
  bool held;  ///< the writers were held until the child had ended
};

/// What becomes of a run. Returns whether more of this allocator and alternative are wanted.
using TakeSnapshot = std::function<bool(const SnapshotStep&, const SnapshotRun&)>;

/// Carries it out, alternatives interleaved, nothing beside them: the timing runs first, then one of each other pass.
/// Those with a child have some timing runs held, too, and are run twice by faults and by samples, the second time
/// held. A pass that this machine does not permit has the status kNotWatched. Returns false if a signal asked for an
/// end.
bool run_snapshots(const SnapshotPlan& plan, const TakeSnapshot& take);

}  // namespace zerotax::snapshot
