#include "check/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/size.h"
#include "base/units.h"
#include "os/environment.h"
#include "os/load.h"
#include "run/interrupt.h"
#include "run/point_run.h"

namespace zerotax::check {
namespace {

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

/// Threads that do nothing but use every CPU while they live.
class BusyThreads {
 public:
  explicit BusyThreads(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) std::atomic_signal_fence(std::memory_order_seq_cst);
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

class Measuring {
 public:
  Measuring(const Work& work, Experiment& experiment) : work_(work), experiment_(experiment) {}

  WorkDone run() {
    const BusyThreads neighbours(work_.busy ? allowed_cpus() : 0);
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
    item.memory_bytes = 256 * kMiB;  // a probe of a search may be larger than any point
    item.audit = std::move(audit);
    return item;
  }

  [[nodiscard]] Signature signature_at(std::uint64_t size) const {
    return signature_of(audit_point(work_.plan, probe_at(size, work_.time)));
  }

  [[nodiscard]] double probe_seconds(std::uint64_t size) const { return seconds_of(probe_at(size, work_.time), false); }

  /// Each size of the grid as often as asked for, the largest first: they take longest.
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

  /// The upper ends of the gaps that are to be searched; noisy ones become uncertain instead.
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

  /// The searches first: each is the longest single task, and the points fill the other CPUs.
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
  std::vector<Signature> looks_;  ///< of the whole grid, then of the whole grid again
  std::vector<UncertainThreshold> noise_;
  ThresholdSearch search_;
  std::vector<Point> points_;
};

}  // namespace

double Work::expected_seconds() const {
  double sum = 0;
  for (const PointSpec& spec : plan.points) sum += seconds_of_point(*this, spec);
  for (const std::uint64_t size : grid) sum += grid_looks * seconds_of(probe_at(size, time), false);
  for (const std::uint64_t size : edges) sum += 2 * seconds_of(probe_at(size, time), false);
  return sum;
}

WorkDone measure_work(const Work& work, Experiment& experiment) { return Measuring(work, experiment).run(); }

}  // namespace zerotax::check
