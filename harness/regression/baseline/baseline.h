#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/measured.h"
#include "judge/search.h"
#include "meter/sample_block.h"
#include "os/environment.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::baseline {

/// The metrics that a baseline stores for the steady state of a point, in file order.
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
/// The metrics that need a timing pass. Baselines of earlier versions lack these metrics.
inline constexpr std::initializer_list<Metric> kFaultMetrics = {Metric::kCallocFaults, Metric::kTouchFaults,
                                                                Metric::kFreeFaults};
bool is_fault_metric(Metric metric);
/// The metrics that a baseline stores for early calls. Some allocators return memory after a delay, so only metrics
/// that do not depend on a timer are stored.
inline constexpr std::initializer_list<Metric> kEarlyMetrics = {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes};

struct PointIdentity {
  RESULT("point", "A point of a baseline.");
  FIELD_AS("case", std::string, case_name, "Name of the case.", as_in("point.schema.json#/properties/case"));
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", as_in("point.schema.json#/properties/size_bytes"));
  FIELD(double, touch, "Fraction of the block's pages that the program writes, from 0 to 1.",
        as_in("point.schema.json#/properties/touch"));
  FIELD(std::string, thread, "The thread that calls the allocator.", as_in("point.schema.json#/properties/thread"));
  bool operator==(const PointIdentity&) const = default;
};
PointIdentity identity_of(const Point& point);
PointIdentity identity_of(const PointSpec& spec);
/// Returns the name of a point, such as "calloc_loop 1 MiB touch 0 main".
std::string name_of(const PointIdentity& point);

/// A metric that a baseline stores for the steady state of a point, or for an early call.
struct Slot {
  PointIdentity point;
  std::uint64_t call = 0;  ///< number of the early call, counted from 1; 0 for the steady state
  Metric metric{};
  bool operator==(const Slot&) const = default;
};
/// Returns a name such as "calloc_loop 1 MiB touch 0 main, call 3, zeroed_bytes". BaselineChange::name has the same
/// form.
std::string name_of(const Slot& slot);
/// Returns all slots of a point, in file order.
std::vector<Slot> slots_of(const Point& point);
/// Returns the value of a point in this slot, or nullptr if the point lacks the call.
const MetricValue* value_at(const Point& point, const Slot& slot);

/// The schema of BehaviourChanges, which documents store as words.
inline constexpr Limit kChangeWords = with(R"({"items": {"type": "string"}})");
inline constexpr double kMostBytes = 140'737'488'355'328;

struct ThresholdEntry {
  RESULT("threshold",
         "A size at which behavior changes, on the main thread, if the program writes nothing to the block.");
  FIELD(std::uint64_t, at_bytes, "The smallest size with the new behavior, in bytes.", least(1), most(kMostBytes));
  FIELD(BehaviourChanges, changes, "The changes of behavior at the threshold, in words.", kChangeWords);
  FIELD(std::optional<std::vector<Direction>>, directions,
        "The direction of each change: worse if more is zeroed, populated or returned above the threshold, or if "
        "the point fails there. Absent in baselines of version 0.2, where the words decide.");
  FIELD(std::optional<bool>, fails,
        "True if the status changes, and the point fails on one of the two sides; otherwise absent.",
        with(R"({"const": true})"));
};

/// An exact size at which behavior changes: the smallest size with the new behavior, and the changes.
struct BaselineThreshold {
  using Written = ThresholdEntry;
  std::uint64_t at_bytes = 0;
  BehaviourChanges changes;
  bool operator==(const BaselineThreshold&) const = default;
};

struct UncertainThreshold {
  RESULT("uncertain threshold",
         "A change of behavior on which the runs of `bless` did not agree: only some runs saw the change, at one "
         "of these sizes. A check does not report the change as new or as gone.");
  FIELD(std::uint64_t, from_bytes, "The smallest size at which a run detected the change, in bytes.", least(1),
        most(kMostBytes));
  FIELD(std::uint64_t, to_bytes, "The largest size at which a run detected the change, in bytes.", least(1),
        most(kMostBytes));
  FIELD(BehaviourChanges, changes, "The changes that any run saw, in words.", kChangeWords);
  FIELD(std::uint64_t, seen, "The number of probes that detected the change.", least(1));
  FIELD(std::uint64_t, looks, "The number of all probes, with and without the change.", least(1));
  bool operator==(const UncertainThreshold&) const = default;
  [[nodiscard]] bool holds(std::uint64_t at_bytes) const { return from_bytes <= at_bytes && at_bytes <= to_bytes; }
};

void to_json(Json& json, const BaselineThreshold& threshold);
void from_json(const Json& json, BaselineThreshold& threshold);

/// Returns a name such as "a threshold at 1048576 bytes" or "a threshold between 1048576 and 1572864 bytes".
std::string name_of(const UncertainThreshold& threshold);

using CallRanges = std::map<std::string, Range>;
struct RangeEntry : PointIdentity {
  RESULT("seen range", "A metric on which the runs of `bless` did not agree, with all values that they saw.");
  static constexpr const char* kMore =
      R"({"oneOf": [{"required": ["low", "high"]}, {"required": ["calls"]}, {"required": ["words"]}]})";
  BASE_FIELDS(PointIdentity);
  FIELD(std::uint64_t, call, "The number of the early call, from 1; 0 for the steady state.");
  FIELD(std::string, metric, "Key of the metric.");
  FIELD(std::uint64_t, runs, "The number of runs that measured the metric.", least(2));
  FIELD(std::optional<std::uint64_t>, low, "The smallest value that a run measured.");
  FIELD(std::optional<std::uint64_t>, high, "The largest value that a run measured.");
  FIELD(std::optional<CallRanges>, calls, "The range of the number of calls, by name of the system call.");
  FIELD(std::optional<std::vector<std::string>>, words, "All words that the runs measured, if the metric is a word.",
        least_items(1), kMayBeEmpty);
};

/// A metric on which the runs of `bless` did not agree, with all values that these runs saw.
struct SeenRange : Slot {
  using Written = RangeEntry;
  std::uint64_t runs = 0;              ///< number of runs that measured the metric
  Range number;                        ///< range of a numeric metric
  std::map<std::string, Range> calls;  ///< ranges of system calls, by name
  std::vector<std::string> words;      ///< all values of a metric whose values are words
  bool operator==(const SeenRange&) const = default;
};
void to_json(Json& json, const SeenRange& range);

/// Returns the range in words, such as "0 to 1,048,576", "heap or mapping" or "madvise 0 to 3".
std::string words_of(const SeenRange& range);

/// The schema of a condition: the schema of the field with this name in a run's environment.
#define ZEROTAX_CONDITION(name) as_in("run.schema.json#/properties/environment/properties/" #name)
struct BaselineConditions {
  RESULT(
      "conditions of an allocator",
      "The machine and kernel on which a baseline was measured. A check reports the differences from its own machine.");
  FIELD(Json, kernel, "Release of the kernel.", ZEROTAX_CONDITION(kernel));
  FIELD(Json, cpu, "Model name of the processor.", ZEROTAX_CONDITION(cpu));
  FIELD(Json, thp, "Setting of transparent huge pages: always, madvise or never.", ZEROTAX_CONDITION(thp));
  FIELD(std::optional<Json>, cpus, "Number of CPUs.", ZEROTAX_CONDITION(cpus));
  FIELD(std::optional<Json>, page_bytes, "Size of a page, in bytes.", ZEROTAX_CONDITION(page_bytes));
  FIELD(std::optional<Json>, libc, "C library and its version.", ZEROTAX_CONDITION(libc));
  FIELD(std::optional<Json>, pagemap_scan, "Whether the kernel supports PAGEMAP_SCAN.",
        ZEROTAX_CONDITION(pagemap_scan));
  FIELD(std::optional<std::string>, zerotax, "Version of zerotax that wrote the baseline.");
};
#undef ZEROTAX_CONDITION

/// Number of metrics in kSteadyMetrics that every baseline contains.
inline constexpr int kOldestMetrics = 7;

/// Returns the keys of the list `metrics` for the schema.
template <const std::initializer_list<Metric>& metrics>
struct MetricKeys {
  // The schema title of SteadyPoint, whose fields are kSteadyMetrics.
  static constexpr const char* kTitle = "early call";
  static constexpr const char* kDescription = "The metrics of an early call that do not depend on a timer.";
  static constexpr int kFieldsBegin = 0;
  template <int kAt>
  requires(kAt < static_cast<int>(metrics.size())) static void visit_field(FieldAt<kAt>, auto& object, auto&& visit) {
    static const MetricRow& row = row_of(metrics.begin()[kAt]);
    static const std::string schema = fmt::format(R"({{"$ref": "point.schema.json#/properties/{}"}})", row.key);
    visit(row.key, object.value, row.description, with(schema.c_str()), kAt < kOldestMetrics ? with("{}") : kLater);
  }
  Json value;
};

struct SteadyPoint {
  RESULT("steady state", "Status and metrics of a point, per operation in the steady state.");
  FIELD(Json, status, "Status of the point: ok, or the kind of failure.",
        as_in("point.schema.json#/properties/status"));
  BASE_FIELDS(MetricKeys<kSteadyMetrics>);
  Json value;
};
struct KeptPoint : PointIdentity, SteadyPoint {
  RESULT("kept point", "Metrics of a point.");
  BASE_FIELDS(PointIdentity);
  BASE_FIELDS(SteadyPoint);
  FIELD(std::vector<MetricKeys<kEarlyMetrics>>, first_ops,
        "For each early call, the metrics that do not depend on a timer.");
};

struct MeasuringConditions {
  RESULT("measuring conditions", "Conditions of the measurement of a baseline.");
  FIELD(std::string, clock, "The clock that the allocator saw inside its calls.", with(R"({"const": "stopped"})"));
};

using Variables = std::map<std::string, std::string>;
struct BaselineEntry {
  std::string schema = "zerotax.baseline/1";
  RESULT("zerotax baseline",
         "Deterministic metrics of one version of an allocator, without times. `zerotax bless` writes them, and "
         "`zerotax check` reads them.");
  SCHEMA_FIELD("zerotax.baseline/1");
  FIELD(std::string, allocator, "Name of the allocator.");
  FIELD(Measured<std::string>, version, "Version, as reported by the running library.",
        as_in("point.schema.json#/properties/version"));
  FIELD(Variables, env, "Environment variables that configure the allocator.", kMayBeEmpty);
  FIELD(BaselineConditions, measured_on, "The machine and kernel of the measurement.");
  FIELD(std::optional<MeasuringConditions>, conditions,
        "Conditions of the measurement. Absent from a baseline that was measured with the real clock.");
  FIELD(std::vector<JsonOf<KeptPoint>>, points, "Metrics of the points.", least_items(1));
  FIELD(std::optional<std::vector<BaselineThreshold>>, thresholds,
        "Sizes at which behavior changes. Absent if no search was made.");
  FIELD_AS("uncertain_thresholds", std::vector<UncertainThreshold>, uncertain,
           "Changes of behavior on which the runs of `bless` did not agree. Absent if there are none.", kAbsentIfEmpty);
  FIELD(std::vector<JsonOf<RangeEntry>>, ranges,
        "Metrics on which the runs of `bless` did not agree. These metrics are n/a in the points, and a check "
        "compares with the range instead. Absent if there are none.",
        kAbsentIfEmpty);
  FIELD(std::optional<std::vector<std::string>>, by_the_clock,
        "Names of the metrics that depend on the clock: their values change when the clock runs fast, and are constant "
        "while it is stopped.",
        kMayBeEmpty);
};

/// The deterministic metrics of one version of an allocator, as a reference for later measurements.
struct Baseline {
  using Written = BaselineEntry;
  std::string allocator;
  Measured<std::string> version;           ///< informative only: check does not compare versions
  std::map<std::string, std::string> env;  ///< environment variables that configure the allocator
  BaselineConditions measured_on;          ///< from conditions_of(); older baselines lack some conditions
  /// The clock that the allocator saw. A baseline without this field is from a version that could not stop the clock,
  /// so the allocator saw the real clock.
  ClockMode clock = ClockMode::kReal;
  /// For each point: its identity, its status, kSteadyMetrics, and kEarlyMetrics of its first operations. Nothing else
  /// is set.
  std::vector<Point> points;
  std::optional<std::vector<BaselineThreshold>> thresholds;  ///< absent if the thresholds were not searched, or were
                                                             ///< cut out
  std::vector<UncertainThreshold> uncertain;                 ///< changes of behavior on which the runs did not agree
  std::vector<SeenRange> ranges;                         ///< metrics on which the runs did not agree; the points have
                                                         ///< n/a for these metrics
  std::optional<std::vector<std::string>> by_the_clock;  ///< names of metrics that change if a minute passes between
                                                         ///< two readings of the allocator's clock
};

/// Returns the point with this identity, or nullptr.
const Point* point_of(const Baseline& baseline, const PointIdentity& identity);
/// Returns the range that `bless` saw of a metric, or nullptr.
const SeenRange* range_of(const Baseline& baseline, const Slot& slot);

/// Returns a baseline that is made from a measurement.
Baseline baseline_of(const Allocator& allocator, const std::vector<Point>& points, const ThresholdSearch& thresholds,
                     const Environment& environment, ClockMode clock);

/// The part of a baseline that differs.
enum class ChangeKind : std::uint8_t { kStatus, kMetric, kNotMeasured, kThreshold };
ENUM_WORDS(ChangeKind, "status", "metric", "not_measured", "threshold")

/// The changes of behavior at a size, before and now. `before` is absent for a new threshold, and `after` for a removed
/// threshold.
struct ThresholdChange {
  std::optional<BehaviourChanges> before;
  std::optional<BehaviourChanges> after;

  [[nodiscard]] bool is_new() const { return !before; }
  [[nodiscard]] bool is_gone() const { return !after; }
};

/// A metric or threshold that differs between a baseline and a new measurement.
struct BaselineChange {
  std::optional<PointIdentity> point;  ///< the point that changed; absent for a threshold
  std::uint64_t at_bytes = 0;          ///< size of the threshold; 0 for a point
  std::string name;                    ///< name of the metric: the same in each comparison with the same baseline
  std::string line;                    ///< the name of the metric, followed by the values before and now
  ChangeKind kind = ChangeKind::kMetric;
  std::optional<Metric> metric = {};  ///< the metric, if `kind` is kMetric
  std::uint64_t call = 0;             ///< number of the early call, counted from 1; 0 for the steady state
  MetricValue before = {};            ///< value in the baseline, if `kind` is kMetric; status as a word, if `kind` is
                                      ///< kStatus; otherwise absent
  MetricValue after = {};
  std::optional<SeenRange> range = {};  ///< the range outside of which the value lies, if `bless` saw a range. In that
                                        ///< case, `before` is the nearest end of this range.
  std::vector<std::string> ways = {};   ///< the sides of the range beyond which the value lies: "+" (above) or "-"
                                        ///< (below), after the name of a system call; for a metric of words, the new
                                        ///< word
  ThresholdChange threshold = {};       ///< the changes of behavior, if `kind` is kThreshold
  int times = 1;                        ///< number of measurements that showed the change
};
inline const std::string& name_of(const BaselineChange& change) { return change.name; }
/// Returns whether a change lasts in a second measurement. If the value lies outside of a range, keeps only the sides
/// that both measurements show. The change lasts if a side remains.
bool lasts(BaselineChange& change, const BaselineChange& again);

/// The permitted difference of a number: absolute (bytes, faults), or a share of the earlier value.
struct Tolerance {
  double most = 0;
  bool is_share = false;
};
/// Tolerances by metric. For system calls, the tolerance applies to their total. A word has no tolerance.
using Tolerances = std::map<Metric, Tolerance>;

/// Returns every difference between a baseline and a new measurement of all or some of its points. Leaves out metrics
/// that are n/a on either side, because not every kernel offers all metrics, and older baselines contain fewer. Also
/// leaves out differences within the tolerance or within the range that `bless` saw, and points that `after` lacks.
/// Thresholds are compared if both sides have a list of thresholds, even an empty list. Thresholds that are uncertain
/// in the baseline are left out.
std::vector<BaselineChange> compare_baselines(const Baseline& before, const Baseline& after,
                                              const Tolerances& tolerances = {});

/// Returns the points of a baseline that are missing from a new measurement of all points.
std::vector<BaselineChange> points_not_measured(const Baseline& before, const Baseline& after);

/// Returns one line for each failure that a baseline contains, such as "calloc_loop 1 MiB touch 0 main: crashed" or
/// "from 65537 bytes on: the point is crashed (before: ok)". Empty if the allocator is healthy.
std::vector<std::string> failing_in_baseline(const Baseline& baseline);

}  // namespace zerotax::baseline
