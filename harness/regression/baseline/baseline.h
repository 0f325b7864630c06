#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/measured.h"
#include "judge/search.h"
#include "meter/sample_block.h"
#include "os/environment.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::baseline {

/// What a baseline holds of the steady state of a point, in the order of its file.
inline constexpr std::initializer_list<Metric> kSteadyMetrics = {Metric::kZeroedBytes,
                                                                 Metric::kRedundantZeroedBytes,
                                                                 Metric::kPopulatedBytes,
                                                                 Metric::kZeroedMethod,
                                                                 Metric::kCallocSyscalls,
                                                                 Metric::kFreeSyscalls,
                                                                 Metric::kHome,
                                                                 Metric::kZeroedInFreeBytes,
                                                                 Metric::kRedundantZeroedInFreeBytes,
                                                                 Metric::kCallocFaults,
                                                                 Metric::kTouchFaults,
                                                                 Metric::kFreeFaults,
                                                                 Metric::kKernelZeroedBytes,
                                                                 Metric::kReturnedBytes};
/// Those that take a timing pass. Baselines of earlier versions lack them.
inline constexpr std::initializer_list<Metric> kFaultMetrics = {Metric::kCallocFaults, Metric::kTouchFaults,
                                                                Metric::kFreeFaults};
bool is_fault_metric(Metric metric);
/// Of early calls only what no timer can change: some allocators give memory back by the clock.
inline constexpr std::initializer_list<Metric> kEarlyMetrics = {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes};

/// Which point of a baseline.
struct PointIdentity {
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;
  bool operator==(const PointIdentity&) const = default;
};
PointIdentity identity_of(const Point& point);
PointIdentity identity_of(const PointSpec& spec);
/// "calloc_loop 1 MiB touch 0 main".
std::string name_of(const PointIdentity& point);

/// One metric that a baseline holds of a point: of its steady state, or of an early call.
struct Slot {
  PointIdentity point;
  std::uint64_t call = 0;  ///< which of the first calls, from 1; 0: the steady state
  Metric metric{};
  bool operator==(const Slot&) const = default;
};
/// "calloc_loop 1 MiB touch 0 main, call 3, zeroed_bytes", as BaselineChange::name.
std::string name_of(const Slot& slot);
/// All of a point, in the order of the file.
std::vector<Slot> slots_of(const Point& point);
/// The value of a point there; nullptr if it lacks the call.
const MetricValue* value_at(const Point& point, const Slot& slot);

/// An exact size at which behavior changes: the smallest size with the new behavior, and the changes.
struct BaselineThreshold {
  std::uint64_t at_bytes = 0;
  BehaviourChanges changes;
  bool operator==(const BaselineThreshold&) const = default;
};

/// A change of behaviour on which the runs of `bless` did not agree: it was at one of these sizes, or was not there. In
/// a check it is neither new nor gone.
struct UncertainThreshold {
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;
  BehaviourChanges changes;  ///< changes that any run saw
  std::uint64_t seen = 0;    ///< number of looks that saw it
  std::uint64_t looks = 0;   ///< number of all looks
  bool operator==(const UncertainThreshold&) const = default;
  [[nodiscard]] bool holds(std::uint64_t at_bytes) const { return from_bytes <= at_bytes && at_bytes <= to_bytes; }
};

/// "a threshold at 1048576 bytes", "a threshold between 1048576 and 1572864 bytes".
std::string name_of(const UncertainThreshold& threshold);

/// A metric on which the runs of `bless` did not agree, with all values that they saw.
struct SeenRange : Slot {
  std::uint64_t runs = 0;              ///< number of runs that measured the metric
  Range number;                        ///< range of a metric that is a number
  std::map<std::string, Range> calls;  ///< ranges of system calls, by name
  std::vector<std::string> words;      ///< all values of a metric that is a word
  bool operator==(const SeenRange&) const = default;
};
/// "0 to 1,048,576", "heap or mapping", "madvise 0 to 3".
std::string words_of(const SeenRange& range);

/// The deterministic metrics of one version of an allocator, to be compared with a later measurement.
struct Baseline {
  std::string allocator;
  Measured<std::string> version;           ///< for readers only
  std::map<std::string, std::string> env;  ///< the allocator's configuration
  Json measured_on;                        ///< conditions_of(); older baselines lack some
  /// The clock that the allocator saw. The real one in a baseline that does not name it: older than the stopped clock.
  ClockMode clock = ClockMode::kReal;
  /// Of each point its identity, its status, kSteadyMetrics, and kEarlyMetrics of its first operations; nothing else.
  std::vector<Point> points;
  std::optional<std::vector<BaselineThreshold>> thresholds;  ///< nothing if they were not searched, or cut out
  std::vector<UncertainThreshold> uncertain;                 ///< changes on which runs did not agree
  std::vector<SeenRange> ranges;  ///< metrics on which runs did not agree; they are n/a in the points
  std::optional<std::vector<std::string>> by_the_clock;  ///< names of metrics that change when the clock races
};

/// The point of this identity, or nullptr.
const Point* point_of(const Baseline& baseline, const PointIdentity& identity);
/// The range that `bless` saw of a metric, or nullptr.
const SeenRange* range_of(const Baseline& baseline, const Slot& slot);

/// The baseline of a measurement.
Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                     const Environment& environment, ClockMode clock);

/// The part of a point or threshold that differs.
enum class ChangeKind : std::uint8_t { kStatus, kMetric, kNotMeasured, kThreshold };

/// The changes of behavior at a size, before and now. A new threshold has no `before`, a removed one no `after`.
struct ThresholdChange {
  std::optional<BehaviourChanges> before;
  std::optional<BehaviourChanges> after;

  [[nodiscard]] bool is_new() const { return !before; }
  [[nodiscard]] bool is_gone() const { return !after; }
};

/// A metric or threshold that differs between a baseline and a new measurement.
struct BaselineChange {
  std::optional<PointIdentity> point;  ///< nothing for a threshold
  std::uint64_t at_bytes = 0;          ///< of a threshold; 0 for a point
  std::string name;                    ///< of the metric: the same in each comparison with the same baseline
  std::string line;                    ///< the name, with what it was before and is now
  ChangeKind kind = ChangeKind::kMetric;
  std::optional<Metric> metric = {};  ///< of kMetric
  std::uint64_t call = 0;             ///< which of the first calls, from 1; 0: the steady state
  MetricValue before = {};            ///< of kMetric; of kStatus a word; else absent
  MetricValue after = {};
  std::optional<SeenRange> range = {};  ///< what it lies outside of, if `bless` saw a range; `before` is the end nearby
  std::vector<std::string> ways = {};   ///< of a range: on which sides it lies outside, "+", "-", "madvise +"
  ThresholdChange threshold = {};       ///< of kThreshold
  int times = 1;                        ///< number of measurements that showed it
};
inline const std::string& name_of(const BaselineChange& change) { return change.name; }
/// A change beyond a range lasts on each side of the range on which every measurement showed it.
bool lasts(BaselineChange& change, const BaselineChange& again);

/// By how much a number may differ: by so many (bytes, faults), or by a share of what it was.
struct Tolerance {
  double most = 0;
  bool is_share = false;
};
/// By metric; of system calls, the number of all of them counts. A word has none.
using Tolerances = std::map<Metric, Tolerance>;

/// Every difference between a baseline and a new measurement, or one of some of its points. Left out: metrics that are
/// n/a on either side, because not every kernel offers them and older baselines hold fewer, those that are within their
/// tolerance or the range that `bless` saw, and points that `after` lacks. Thresholds are compared if both have a list
/// of them, even an empty one; those that are uncertain in the baseline are left out.
std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after,
                                              const Tolerances& tolerances = {});

/// The points of a baseline that a new measurement of all points does not have.
std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after);

/// What a baseline holds of an allocator that fails, one line each, as in "calloc_loop 1 MiB touch 0 main: crashed",
/// and "from 65537 bytes on: the point is crashed (before: ok)". Empty for a healthy one.
std::vector<std::string> failing_in_baseline(const Baseline& baseline);

}  // namespace zerotax::baseline
