#include "check/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/size.h"
#include "core/audit_point.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/side_by_side.h"
#include "os/environment.h"

namespace zerotax::check {
namespace {

constexpr Repeats kProbeRepeats{6, 6, 6, 6, 0};

thresholds::ThresholdSearch search_of(const Work& work, const std::function<void()>& end_if_interrupted) {
  const thresholds::SignatureProbe probe = [&](std::uint64_t size) {
    const Point point =
        audit_point(work.plan, {0, "calloc_loop", size, 0.0, "main", kProbeRepeats, work.time}, stop_requested);
    end_if_interrupted();
    return thresholds::signature_of(point);
  };
  return work.grid.empty() ? thresholds::look_for_thresholds(work.edges, probe)
                           : thresholds::find_thresholds(work.grid, probe);
}

Point measured_point(const Work& work, PointSpec spec) {
  spec.time = work.time;
  return work.faults ? count_point(work.plan, spec, stop_requested) : audit_point(work.plan, spec, stop_requested);
}

}  // namespace

WorkDone measure_work(const Work& work, const WorkWatch& watch) {
  WorkDone done;
  done.points.resize(work.plan.points.size());
  std::mutex lock;
  const auto end_if_interrupted = [&] {
    if (!stop_requested()) return;
    const std::scoped_lock held(lock);
    watch.interrupted();
  };
  // The search is the longest single task: it starts first, and the points fill the other CPUs.
  const std::size_t searches = work.searches() ? 1 : 0;
  const std::size_t fit = audits_side_by_side(256 * kMiB);
  const std::size_t workers = work.side_by_side == 0 ? fit : std::min(fit, work.side_by_side);
  run_side_by_side(work.tasks(), workers, [&](std::size_t task) {
    {
      const std::scoped_lock held(lock);
      watch.begins(task < searches ? "thresholds" : fmt::format("point {}", task + 1 - searches));
    }
    if (task < searches) {
      done.search = search_of(work, end_if_interrupted);
    } else {
      done.points[task - searches] = measured_point(work, work.plan.points[task - searches]);
      end_if_interrupted();
    }
    const std::scoped_lock held(lock);
    watch.ends();
  });
  const Allocator& allocator = work.plan.allocators.front();
  done.baseline = baseline_of(allocator, done.points, done.search, describe_environment(), work.time.clock);
  if (!work.searches()) done.baseline.thresholds.reset();
  return done;
}

}  // namespace zerotax::check
