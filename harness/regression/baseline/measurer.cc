#include "baseline/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/lasting_changes.h"
#include "baseline/subject.h"
#include "os/environment.h"
#include "os/load.h"
#include "point/plan.h"
#include "run/interrupt.h"
#include "run/planning.h"
#include "run/point_run.h"

namespace zerotax::baseline {
namespace {

constexpr PointTime kStoppedClock{ClockMode::kStopped, 0};
constexpr PointTime kRacingClock{ClockMode::kRacing, 0};

Work work_of(const Allocator& allocator, double timeout_s, const BaselinePart& part, const PointTime& time) {
  Work work{part, baseline_plan(allocator, timeout_s), time, {}};
  std::erase_if(work.plan.points, [&](const PointSpec& spec) {
    return std::find(part.points.begin(), part.points.end(), identity_of(spec)) == part.points.end();
  });
  if (!part.thresholds) return work;
  const BaselineRange range = baseline_range();
  const std::vector<std::uint64_t> grid = size_grid(range.from, range.to, range.per_octave);
  // Adds both sides of each known threshold to the grid, so that the search finds the threshold again without
  // bisecting.
  std::set<std::uint64_t> sizes(grid.begin(), grid.end());
  for (const std::uint64_t at : part.known) {
    if (range.from < at && at <= range.to) sizes.insert({at - 1, at});
  }
  work.grid.assign(sizes.begin(), sizes.end());
  return work;
}

/// Returns all points of the given sizes, or all points if no sizes are given.
BaselinePart whole_part(const Allocator& allocator, double timeout_s, const std::vector<std::uint64_t>& sizes) {
  BaselinePart all;
  for (const PointSpec& spec : baseline_plan(allocator, timeout_s).points) {
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), spec.size_bytes) == sizes.end()) continue;
    all.points.push_back(identity_of(spec));
  }
  return all;
}

/// The measurements that `bless` makes of one allocator.
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
  /// Runs these points once more, and tests each threshold that the search found. Every other run is beside busy
  /// threads.
  void again(const std::vector<PointIdentity>& points) {
    BaselinePart part = points_;
    part.points = points;
    part.busy = runs_.size() % 2 == 1;
    if (runs_.front().thresholds) {
      for (const BaselineThreshold& each : *runs_.front().thresholds) part.edges.push_back(each.at_bytes);
    }
    runs_.push_back(measurer_.measure(part, kStoppedClock));
    // An empty list of thresholds makes the run count although it had no edge to test.
    if (runs_.front().thresholds && !runs_.back().thresholds) runs_.back().thresholds.emplace();
  }

  [[nodiscard]] bool thresholds_differ() const { return !agreed_baseline(runs_).uncertain.empty(); }

  void repeat_what_differs() {
    const auto differing = points_that_differ(runs_, paused_);
    if (differing.empty() && !thresholds_differ()) return;
    if (points_that_differ(runs_, {}).empty() && !differing.empty()) {
      // Only pauses made a difference. If further pauses also make a difference, the allocator depends on a clock that
      // cannot be stopped.
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

constexpr Repeats kProbeRepeats{6, 6, 6, 6, 0};

double seconds_of(const PointSpec& spec, bool faults) {
  const double ops = spec.repeats.audit_ops;
  const double pauses = 2 * static_cast<double>(spec.time.pause_ns) * 1e-9;
  return (faults ? 2 : 1) * (expected_seconds(spec, ops) + ops * pauses);
}

PointSpec probe_at(std::uint64_t size, const PointTime& time) {
  return {0, "calloc_loop", size, 0.0, "main", kProbeRepeats, time};
}

double seconds_of_point(const Work& work, PointSpec spec) {
  spec.time = work.time;
  return seconds_of(spec, work.faults);
}

class Measuring {
 public:
  Measuring(const Work& work, Experiment& experiment) : work_(work), experiment_(experiment) {}

  WorkDone run() {
    const BusyCpus neighbors(work_.busy ? allowed_cpus() : 0);
    look_at_grid();
    search_and_measure_points();
    WorkDone done{std::move(points_), std::move(search_), {}};
    const Allocator& allocator = work_.plan.allocators.front();
    done.baseline = baseline_of(allocator, done.points, done.search, describe_environment(), work_.time.clock);
    for (const UncertainThreshold& each : noise_) done.baseline.uncertain.push_back(each);
    if (!work_.searches()) done.baseline.thresholds.reset();
    return done;
  }

 private:
  void run(const std::vector<Item>& items) {
    if (!experiment_.run(items)) throw Stop{};
  }

  static Item item_of(const std::string& label, double seconds, std::function<void(const Say&)> audit) {
    Item item;
    item.label = label;
    item.seconds = seconds;
    item.memory_bytes = 256 * kMiB;  // a probe of a search may need more memory than any point
    item.audit = std::move(audit);
    return item;
  }

  [[nodiscard]] Signature signature_at(std::uint64_t size) const {
    return signature_of(audit_point(work_.plan, probe_at(size, work_.time)));
  }

  [[nodiscard]] double probe_seconds(std::uint64_t size) const { return seconds_of(probe_at(size, work_.time), false); }

  /// Probes each size of the grid `grid_looks` times. The largest sizes come first because they take longest.
  void look_at_grid() {
    const std::size_t sizes = work_.grid.size();
    looks_.resize(sizes * work_.grid_looks);
    std::vector<Item> items;
    for (std::size_t look = 0; look < work_.grid_looks; ++look) {
      for (std::size_t place = sizes; place-- > 0;) {
        const std::uint64_t size = work_.grid[place];
        items.push_back(
            item_of("behaviour at " + format_size(size), probe_seconds(size),
                    [this, size, at = look * sizes + place](const Say&) { looks_[at] = signature_at(size); }));
      }
    }
    run(items);
    search_.probes = looks_.size();
    search_.grid = sizes;
    if (sizes != 0) search_.at_from = looks_.front();
  }

  [[nodiscard]] const Signature* noise_at(std::size_t place) const {
    const std::size_t sizes = work_.grid.size();
    for (std::size_t look = 1; look < work_.grid_looks; ++look) {
      if (looks_[look * sizes + place] != looks_[place]) return &looks_[look * sizes + place];
    }
    return nullptr;
  }

  /// Returns the upper ends of the gaps to search. Noisy gaps become uncertain thresholds instead.
  std::vector<std::size_t> gaps() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < work_.grid.size(); ++i) {
      if (const Signature* other = noise_at(i)) {
        search_.noisy.push_back(work_.grid[i]);
        const std::uint64_t from = i == 0 ? work_.grid[i] : work_.grid[i - 1] + 1;
        const std::uint64_t to = work_.grid[std::min(i + 1, work_.grid.size() - 1)];
        noise_.push_back({from, to, describe_change(looks_[i], *other), 1, work_.grid_looks});
      }
      if (i == 0 || looks_[i - 1] == looks_[i] || noise_at(i - 1) != nullptr || noise_at(i) != nullptr) continue;
      const bool known = std::any_of(work_.uncertain.begin(), work_.uncertain.end(), [&](const auto& each) {
        return each.from_bytes <= work_.grid[i - 1] + 1 && work_.grid[i] <= each.to_bytes;
      });
      if (!known) found.push_back(i);
    }
    return found;
  }

  void add(const ThresholdSearch& found) {
    const std::scoped_lock held(lock_);
    search_.probes += found.probes;
    search_.thresholds.insert(search_.thresholds.end(), found.thresholds.begin(), found.thresholds.end());
    search_.noisy.insert(search_.noisy.end(), found.noisy.begin(), found.noisy.end());
  }

  void measure_point(std::size_t place) {
    PointSpec spec = work_.plan.points[place];
    spec.time = work_.time;
    points_[place] = work_.faults ? count_point(work_.plan, spec) : audit_point(work_.plan, spec);
  }

  /// Starts the searches first, because each is a long task. The points fill the other CPUs.
  void search_and_measure_points() {
    const auto probe = [this](std::uint64_t size) { return signature_at(size); };
    std::vector<Item> items;
    for (const std::size_t gap : gaps()) {
      items.push_back(item_of("thresholds", 0, [this, probe, gap](const Say&) {
        add(find_thresholds({work_.grid[gap - 1], work_.grid[gap]}, probe));
      }));
    }
    for (const std::uint64_t edge : work_.edges) {
      items.push_back(item_of("thresholds", 2 * probe_seconds(edge),
                              [this, probe, edge](const Say&) { add(look_for_thresholds({edge}, probe)); }));
    }
    points_.resize(work_.plan.points.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      items.push_back(item_of(fmt::format("point {}", i + 1), seconds_of_point(work_, work_.plan.points[i]),
                              [this, i](const Say&) { measure_point(i); }));
    }
    run(items);
    std::sort(search_.thresholds.begin(), search_.thresholds.end(),
              [](const Threshold& one, const Threshold& other) { return one.at_bytes < other.at_bytes; });
    std::sort(search_.noisy.begin(), search_.noisy.end());
  }

  const Work& work_;
  Experiment& experiment_;
  std::mutex lock_;
  std::vector<Signature> looks_;  ///< results of the first round of probes, one for each size of the grid, then of the
                                  ///< second round
  std::vector<UncertainThreshold> noise_;
  ThresholdSearch search_;
  std::vector<Point> points_;
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

Plan baseline_plan(const Allocator& allocator, double timeout_s) {
  Plan plan;
  plan.timeout_s = timeout_s;
  plan.allocators = {allocator};
  add_points(plan, {{"calloc_loop"}, {64 * kKiB, kMiB, 20 * kMiB, 100 * kMiB}, {0.0, 1.0}, {"main", "worker"}},
             kBaselineRepeats);
  // Adds points that show how many freed blocks the allocator keeps, and which kept blocks serve requests of a
  // different size.
  add_points(plan, {{"calloc_batch"}, {48 * kMiB}, {0.0}, {"main"}}, kBaselineRepeats);
  add_points(plan, {{"calloc_mixed"}, {48 * kMiB}, {0.0}, {"main"}}, kBaselineRepeats);
  return plan;
}

BaselineRange baseline_range() { return {16 * kKiB, 256 * kMiB, 2}; }

std::string baseline_file_name(const Allocator& allocator) {
  std::string name = allocator.name + "-" + (allocator.version.empty() ? "unknown" : allocator.version);
  std::string clean;
  for (const char letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_';
    if (plain) {
      clean += letter;
    } else if (!clean.empty() && clean.back() != '-') {
      clean += '-';
    }
  }
  while (clean.ends_with('-')) clean.pop_back();
  return clean + ".json";
}

double Work::expected_seconds() const {
  double sum = 0;
  for (const PointSpec& spec : plan.points) sum += seconds_of_point(*this, spec);
  for (const std::uint64_t size : grid) sum += grid_looks * seconds_of(probe_at(size, time), false);
  for (const std::uint64_t size : edges) sum += 2 * seconds_of(probe_at(size, time), false);
  return sum;
}

WorkDone measure_work(const Work& work, Experiment& experiment) { return Measuring(work, experiment).run(); }

}  // namespace zerotax::baseline
