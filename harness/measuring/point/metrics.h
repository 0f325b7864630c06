#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meter/sample_block.h"

namespace zerotax {

/// The metrics of a point, one name for each row of metrics.inc, in the order of that file.
enum class Metric : std::uint8_t {
#define ZEROTAX_METRIC(name, ...) name,
#include "point/metrics.inc"
#undef ZEROTAX_METRIC
};

/// Number of metrics.
inline constexpr std::size_t kMetrics =
    std::initializer_list<Metric>{
#define ZEROTAX_METRIC(name, ...) Metric::name,
#include "point/metrics.inc"
#undef ZEROTAX_METRIC
    }
        .size();

/// The kind of a metric's value. Every kind except kOperations may be n/a.
enum class MetricKind {
  kTimeSpread,   ///< nanoseconds: median, p05 and p95 over the operations; for a single operation, its time
  kDuration,     ///< nanoseconds
  kCount,        ///< a whole number
  kBytes,        ///< a whole number of bytes
  kOperations,   ///< a whole number that is always known
  kRatio,        ///< a rate or ratio
  kWord,         ///< one of MetricRow::words
  kSystemCalls,  ///< numbers of calls by the name of the system call
};

/// The object in a point's JSON that contains a metric.
enum class MetricGroup { kPoint, kTransfer, kFork, kForkChild, kForkParent, kHeld };

/// The pass that measures a metric. The metric zero_ns belongs to the zeroing or the differential pass.
enum class MetricPass { kAudit, kTiming, kZeroing, kFaults, kHolding, kHoldingWithout };

/// Whether a metric also occurs in a separate object of a point (an entry of first_ops, or of modes), and its meaning
/// in that object. Keys are sorted by rank, and keys of the same rank are in the order of the table.
struct MetricElsewhere {
  int rank = 0;                  ///< 0 if the metric does not occur in the object
  const char* description = "";  ///< description for the object; if empty, the row's description applies
};

/// The members of the probe's data that hold an operation's value. Empty for a metric that is derived from other
/// metrics.
struct MetricSource {
  std::int64_t (*of)(const OpSample&) = nullptr;
  char const (SampleBlock::*na)[kReasonBytes] = nullptr;                          ///< reason why the whole pass has no
                                                                                  ///< value
  char const (SampleBlock::*unseen)[2 * kReasonBytes] = &SampleBlock::na_unseen;  ///< reason why single operations have
                                                                                  ///< no value
};

/// Everything known about a metric. A new metric needs a row in metrics.inc, and a probe that measures it.
struct MetricRow {
  Metric metric;
  MetricGroup group = MetricGroup::kPoint;
  const char* key;       ///< JSON key within the group
  const char* csv = "";  ///< column of points.csv, or empty; a time spread has three, with "_median", "_p05" and "_p95"
                         ///< appended
  const char* name;      ///< displayed name
  MetricKind kind;
  const char* unit = "";
  MetricPass pass;
  MetricSource source = {};
  const char* words = "";            ///< possible words: "exact|at most"
  std::optional<Metric> bound = {};  ///< the metric that says whether these bytes are exact or an upper bound
  std::uint64_t least = 0;           ///< minimum of the number
  bool of_touching = false;          ///< whether the metric is n/a if nothing is touched
  bool may_be_absent = false;        ///< whether runs of earlier versions may lack the metric
  MetricElsewhere in_first_op = {};
  MetricElsewhere in_mode = {};
  const char* description;  ///< description in the schema
};

/// Returns the whole table, in the order of the keys in JSON.
const std::array<MetricRow, kMetrics>& metric_rows();

const MetricRow& row_of(Metric metric);

/// Returns the metrics of an entry of first_ops, in the order of the keys in JSON.
const std::vector<const MetricRow*>& first_op_rows();

/// Returns the metrics of an entry of modes of this pass, in the order of the keys in JSON.
const std::vector<const MetricRow*>& mode_rows(MetricPass pass);

/// Returns the keys that lead from the point to a group: {"fork", "child"}.
std::initializer_list<const char*> keys_of(MetricGroup group);

/// Returns a metric's key with its groups, such as "fork.child.copies".
std::string dotted_key(const MetricRow& row);

/// The parts of a time spread, as JSON keys and as suffixes of column names.
inline constexpr std::array<const char*, 3> kSpreadParts{"median", "p05", "p95"};

/// Returns the column names of a metric in points.csv: none, one, or three for a time spread.
std::vector<std::string> csv_columns(const MetricRow& row);

/// Returns the words that are possible values of the metric.
std::vector<std::string> words_of(const MetricRow& row);

/// Returns the name of a pass, such as "timing".
const char* pass_name(MetricPass pass);

/// Returns the metric with this key ("calloc_ns", "fork.child.copies"), or nothing if no metric has it.
std::optional<Metric> metric_of_key(std::string_view dotted_key);

/// Returns the metric with a key ("calloc_faults") or a displayed name ("calloc faults"), or nothing if it is unknown.
std::optional<Metric> metric_named(const std::string& word);

}  // namespace zerotax
