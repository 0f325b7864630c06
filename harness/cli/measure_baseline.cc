#include "cli/measure_baseline.h"

#include <fmt/format.h>

#include <mutex>
#include <vector>

#include "analyze/baseline.h"
#include "base/error.h"
#include "base/size.h"
#include "drive/audit_point.h"
#include "drive/baseline_plan.h"
#include "drive/interrupt.h"
#include "drive/memory_guard.h"
#include "drive/progress.h"
#include "drive/side_by_side.h"
#include "os/environment.h"

namespace zerotax {
namespace {

void end_if_interrupted() {
  if (stop_requested()) throw UsageError("interrupted: nothing was written", "run it again");
}

}  // namespace

Json measure_baseline(const Allocator& allocator, double timeout_s) {
  const Plan plan = baseline_plan(allocator, timeout_s);
  std::vector<Json> points(plan.points.size());
  ThresholdSearch thresholds;
  // The search is the longest single task: it starts first, and the points fill the other CPUs.
  const std::size_t tasks = plan.points.size() + 1;
  Progress progress(allocator.name, tasks, static_cast<double>(tasks));
  std::mutex progress_lock;
  run_side_by_side(tasks, audits_side_by_side(256 * kMiB), [&](std::size_t task) {
    {
      const std::scoped_lock lock(progress_lock);
      progress.show(task == 0 ? "thresholds" : fmt::format("point {}", task));
    }
    if (task == 0) {
      const BaselineRange range = baseline_range();
      thresholds = find_thresholds(threshold_grid(range.from, range.to, range.per_octave), [&](std::uint64_t size) {
        const PointSpec spec{0, "calloc_loop", size, 0.0, "main", {6, 6, 6, 6, 0}};
        const Json point = audit_point(plan, spec, stop_requested);
        end_if_interrupted();
        return signature_of(point);
      });
    } else {
      points[task - 1] = audit_point(plan, plan.points[task - 1], stop_requested);
      end_if_interrupted();
    }
    const std::scoped_lock lock(progress_lock);
    progress.advance(1);
  });
  return baseline_json(allocator, points, thresholds, describe_environment());
}

}  // namespace zerotax
