#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/allocators.h"
#include "core/typed_point.h"
#include "meter/sample_block.h"
#include "thresholds/search.h"

namespace zerotax::check {

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
/// "calloc_loop 1 MiB touch 0 main".
std::string name_of(const Point& point);

/// A size at which behaviour changes, exactly: the smallest with the new behaviour, and what changes, in words.
struct BaselineThreshold {
  std::uint64_t at_bytes = 0;
  std::vector<std::string> changes;
  bool operator==(const BaselineThreshold&) const = default;
};

/// The deterministic metrics of one version of an allocator, to be compared with a later measurement.
struct Baseline {
  std::string allocator;
  Json version;      ///< a word or {"na": why}; for readers only
  Json env;          ///< the allocator's configuration
  Json measured_on;  ///< the conditions of conditions.h; older baselines lack some
  /// The clock that the allocator saw. The real one in a baseline that does not name it: older than the stopped clock.
  ClockMode clock = ClockMode::kReal;
  /// Of each point its identity, its status, kSteadyMetrics, and kEarlyMetrics of its first operations; nothing else.
  std::vector<Point> points;
  std::optional<std::vector<BaselineThreshold>> thresholds;  ///< nothing if they were not searched, or cut out
  std::optional<std::vector<std::string>> by_the_clock;      ///< names of metrics that change when the clock races
};

/// What a baseline holds of a measurement.
Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points,
                     const thresholds::ThresholdSearch& thresholds, const Json& environment, ClockMode clock);

/// What two measurements of one allocator agree on: a metric that differs becomes n/a with `why`, a threshold that only
/// one of them found is left out, and a point that fails in one of them fails. What the other did not measure stays.
Baseline agreed_baseline(const Baseline& one, const Baseline& other, const std::string& why);

/// What of a point or threshold differs.
enum class ChangeKind : std::uint8_t { kStatus, kMetric, kNotMeasured, kThreshold };

/// A metric or threshold that differs between a baseline and a new measurement.
struct BaselineChange {
  std::optional<PointIdentity> point;  ///< nothing for a threshold
  std::uint64_t at_bytes = 0;          ///< of a threshold; 0 for a point
  std::string name;                    ///< of the metric: the same in each comparison with the same baseline
  std::string line;                    ///< the name, with what it was before and is now
  ChangeKind kind = ChangeKind::kMetric;
  std::optional<Metric> metric = {};  ///< of kMetric
  std::uint64_t call = 0;             ///< which of the first calls, from 1; 0: the steady state
  Json before = {};                   ///< null for a threshold that is new
  Json after = {};                    ///< null for one that is gone, and for a point that was not measured
};

/// By how much a number may differ: by so many (bytes, faults), or by a share of what it was.
struct Tolerance {
  double most = 0;
  bool is_share = false;
};
/// By metric; of system calls, the number of all of them counts. A word has none.
using Tolerances = std::map<Metric, Tolerance>;

/// Every difference between a baseline and a new measurement, or one of some of its points. Left out: metrics that are
/// n/a on either side, because not every kernel offers them and older baselines hold fewer, those that are within their
/// tolerance, and points that `after` lacks. Thresholds are compared if both have a list of them, even an empty one.
std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after,
                                              const Tolerances& tolerances = {});

/// The points of a baseline that a new measurement of all points does not have.
std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after);

/// What a baseline holds of an allocator that fails, one line each, as in "calloc_loop 1 MiB touch 0 main: crashed",
/// and "from 65537 bytes on: the point is crashed (before: ok)". Empty for a healthy one.
std::vector<std::string> failing_in_baseline(const Baseline& baseline);

}  // namespace zerotax::check
