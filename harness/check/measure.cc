#include "check/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "check/baseline.h"
#include "check/plan.h"
#include "core/audit_point.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/progress.h"
#include "core/side_by_side.h"
#include "os/environment.h"

namespace zerotax::check {

using thresholds::find_thresholds;
using thresholds::look_for_thresholds;
using thresholds::signature_of;
using thresholds::SignatureProbe;
using thresholds::ThresholdSearch;
namespace {

void end_if_interrupted() {
  if (stop_requested()) throw UsageError("interrupted: nothing was written", "run it again");
}

bool is_in(const BaselinePart* part, const PointSpec& spec) {
  if (part == nullptr) return true;
  const PointIdentity identity{spec.case_name, spec.size_bytes, spec.touch, spec.thread};
  return std::find(part->points.begin(), part->points.end(), identity) != part->points.end();
}

}  // namespace

Baseline measure_baseline(const Allocator& allocator, double timeout_s, const BaselinePart* part,
                          const PointTime& time) {
  Plan plan = baseline_plan(allocator, timeout_s);
  std::erase_if(plan.points, [&](const PointSpec& spec) { return !is_in(part, spec); });
  for (PointSpec& spec : plan.points) spec.time = time;
  const bool search = part == nullptr || part->thresholds;
  const std::vector<std::uint64_t> edges = part == nullptr ? std::vector<std::uint64_t>() : part->edges;
  std::vector<Point> points(plan.points.size());
  ThresholdSearch thresholds;
  // The search is the longest single task: it starts first, and the points fill the other CPUs.
  const std::size_t searches = search || !edges.empty() ? 1 : 0;
  const std::size_t tasks = plan.points.size() + searches;
  Progress progress(allocator.name, tasks, static_cast<double>(tasks));
  std::mutex progress_lock;
  run_side_by_side(tasks, audits_side_by_side(256 * kMiB), [&](std::size_t task) {
    {
      const std::scoped_lock lock(progress_lock);
      progress.show(task < searches ? "thresholds" : fmt::format("point {}", task + 1 - searches));
    }
    if (task < searches) {
      const SignatureProbe probe = [&](std::uint64_t size) {
        const PointSpec spec{0, "calloc_loop", size, 0.0, "main", {6, 6, 6, 6, 0}, time};
        const Point point = audit_point(plan, spec, stop_requested);
        end_if_interrupted();
        return signature_of(point);
      };
      const BaselineRange range = baseline_range();
      thresholds = search ? find_thresholds(size_grid(range.from, range.to, range.per_octave), probe)
                          : look_for_thresholds(edges, probe);
    } else {
      const std::size_t at = task - searches;
      points[at] = part == nullptr || part->faults ? count_point(plan, plan.points[at], stop_requested)
                                                   : audit_point(plan, plan.points[at], stop_requested);
      end_if_interrupted();
    }
    const std::scoped_lock lock(progress_lock);
    progress.advance(1);
  });
  Baseline measured = baseline_of(allocator, points, thresholds, describe_environment(), time.clock);
  if (searches == 0) measured.thresholds.reset();
  return measured;
}

void check_sizes(const std::vector<std::uint64_t>& sizes) {
  std::set<std::uint64_t> planned;
  for (const PointSpec& spec : baseline_plan({}, 1).points) planned.insert(spec.size_bytes);
  std::vector<std::string> words;
  for (const std::uint64_t size : planned) words.push_back(format_size(size));
  for (const std::uint64_t size : sizes) {
    if (planned.contains(size)) continue;
    throw UsageError(fmt::format("baselines have no points of {}", format_given_size(size)),
                     fmt::format("choose: {}", fmt::join(words, ", ")));
  }
}

NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes,
                                 bool thresholds) {
  constexpr PointTime kStopped{ClockMode::kStopped, 0};
  const auto measure = [&](const BaselinePart* part, const PointTime& time) {
    return measure_baseline(allocator, timeout_s, part, time);
  };
  BaselinePart all;
  all.thresholds = thresholds;
  for (const PointSpec& spec : baseline_plan(allocator, timeout_s).points) {
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), spec.size_bytes) == sizes.end()) continue;
    all.points.push_back({spec.case_name, spec.size_bytes, spec.touch, spec.thread});
  }
  NewBaseline made;
  made.measured = {measure(&all, kStopped), measure(&all, kStopped)};
  made.baseline = agreed_baseline(made.measured[0], made.measured[1], "not the same each time it was measured");
  BaselinePart points = whole_of(made.baseline);
  points.thresholds = false;
  made.measured.push_back(measure(&points, kPaused));
  made.baseline = agreed_baseline(made.baseline, made.measured.back(), "depends on a clock that cannot be stopped");
  made.baseline.by_the_clock.emplace();
  for (const BaselineChange& change : compare_baselines(made.baseline, measure(&points, {ClockMode::kRacing, 0}))) {
    made.baseline.by_the_clock->push_back(change.name);
  }
  return made;
}

}  // namespace zerotax::check
