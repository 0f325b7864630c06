#include "check/measure.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "check/cut.h"
#include "check/gather.h"
#include "check/plan.h"
#include "check/work.h"
#include "point/size_grid.h"

namespace zerotax::check {
namespace {

constexpr PointTime kStoppedClock{ClockMode::kStopped, 0};
constexpr PointTime kRacingClock{ClockMode::kRacing, 0};

Work work_of(const Allocator& allocator, double timeout_s, const BaselinePart& part, const PointTime& time) {
  Work work;
  work.plan = baseline_plan(allocator, timeout_s);
  std::erase_if(work.plan.points, [&](const PointSpec& spec) {
    return std::find(part.points.begin(), part.points.end(), identity_of(spec)) == part.points.end();
  });
  work.time = time;
  work.faults = part.faults;
  work.busy = part.busy;
  work.edges = part.edges;
  if (!part.thresholds) return work;
  const BaselineRange range = baseline_range();
  const std::vector<std::uint64_t> grid = size_grid(range.from, range.to, range.per_octave);
  // Where a threshold was known, both of its sides: it is found again without a bisection.
  std::set<std::uint64_t> sizes(grid.begin(), grid.end());
  for (const std::uint64_t at : part.known) {
    if (range.from < at && at <= range.to) sizes.insert({at - 1, at});
  }
  work.grid.assign(sizes.begin(), sizes.end());
  work.grid_looks = part.grid_looks;
  work.uncertain = part.uncertain;
  return work;
}

/// All points of some sizes, or of all.
BaselinePart whole_part(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes) {
  BaselinePart all;
  for (const PointSpec& spec : baseline_plan(allocator, timeout_s).points) {
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), spec.size_bytes) == sizes.end()) continue;
    all.points.push_back(identity_of(spec));
  }
  return all;
}

/// What `bless` measures of one allocator.
class Blessing {
 public:
  Blessing(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes, bool thresholds)
      : measurer_(allocator, timeout_s), points_(whole_part(allocator, timeout_s, sizes)) {
    search_ = points_;
    search_.thresholds = thresholds;
    search_.grid_looks = 2;
  }

  NewBaseline made() {
    measurer_.expect(search_, kStoppedClock);
    measurer_.expect(points_, kStoppedClock);
    measurer_.expect(points_, kPaused);
    measurer_.expect(points_, kRacingClock);
    runs_.push_back(measurer_.measure(search_, kStoppedClock));
    again(points_.points);
    paused_.push_back(measurer_.measure(points_, kPaused));
    repeat_what_differs();
    NewBaseline made{agreed_baseline(runs_, paused_), runs_};
    made.measured.insert(made.measured.end(), paused_.begin(), paused_.end());
    made.baseline.by_the_clock.emplace();
    for (const BaselineChange& change : compare_baselines(made.baseline, measurer_.measure(points_, kRacingClock))) {
      made.baseline.by_the_clock->push_back(change.name);
    }
    return made;
  }

 private:
  /// One more run of these points, and a look at each threshold that the search found; every other one busy.
  void again(const std::vector<PointIdentity>& points) {
    BaselinePart part = points_;
    part.points = points;
    part.busy = runs_.size() % 2 == 1;
    if (runs_.front().thresholds) {
      for (const BaselineThreshold& each : *runs_.front().thresholds) part.edges.push_back(each.at_bytes);
    }
    runs_.push_back(measurer_.measure(part, kStoppedClock));
    // A look at no edges is one all the same.
    if (runs_.front().thresholds && !runs_.back().thresholds) runs_.back().thresholds.emplace();
  }

  [[nodiscard]] bool thresholds_differ() const { return !agreed_baseline(runs_).uncertain.empty(); }

  void repeat_what_differs() {
    const auto differing = points_that_differ(runs_, paused_);
    if (differing.empty() && !thresholds_differ()) return;
    if (points_that_differ(runs_, {}).empty() && !differing.empty()) {
      // Only pauses made a difference. If they do so again, the allocator goes by a clock that cannot be stopped.
      BaselinePart part = points_;
      part.points = differing;
      paused_.push_back(measurer_.measure(part, kPaused));
      again(differing);
      if (agreed_baseline(runs_, paused_).ranges.empty() && !thresholds_differ()) return;
    }
    BaselinePart part = points_;
    part.points = points_that_differ(runs_, paused_);
    measurer_.expect(part, kStoppedClock, kRunsOfWhatDiffers - runs_.size());
    while (runs_.size() < kRunsOfWhatDiffers) again(points_that_differ(runs_, paused_));
  }

  Measurer measurer_;
  BaselinePart points_;
  BaselinePart search_;
  std::vector<Baseline> runs_;
  std::vector<Baseline> paused_;
};

}  // namespace

Measurer::Measurer(const Allocator& allocator, double timeout_s)
    : allocator_(allocator), timeout_s_(timeout_s), experiment_(allocator.name) {}

void Measurer::expect(const BaselinePart& part, const PointTime& time, std::size_t times) {
  const Work work = work_of(allocator_, timeout_s_, part, time);
  experiment_.expect(times * work.tasks(), static_cast<double>(times) * work.expected_seconds());
}

Baseline Measurer::measure(const BaselinePart& part, const PointTime& time) {
  return measure_work(work_of(allocator_, timeout_s_, part, time), experiment_).baseline;
}

void check_sizes(const std::vector<std::uint64_t>& sizes) {
  std::set<std::uint64_t> planned;
  for (const PointSpec& spec : baseline_plan({}, 1).points) planned.insert(spec.size_bytes);
  refuse_other_sizes(sizes, planned, "baselines have no points of");
}

NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes,
                                 bool thresholds) {
  return Blessing(allocator, timeout_s, sizes, thresholds).made();
}

}  // namespace zerotax::check
