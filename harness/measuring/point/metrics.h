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

/// What a point measures: one name for each row of metrics.inc, in its order.
enum class Metric : std::uint8_t {
#define ZEROTAX_METRIC(name, ...) name,
#include "point/metrics.inc"
#undef ZEROTAX_METRIC
};

/// How many there are.
inline constexpr std::size_t kMetrics =
    std::initializer_list<Metric>{
#define ZEROTAX_METRIC(name, ...) Metric::name,
#include "point/metrics.inc"
#undef ZEROTAX_METRIC
    }
        .size();

/// What a value looks like. Any but kOperations may be n/a.
enum class MetricKind {
  kTimeSpread,   ///< nanoseconds: median, p05 and p95 of the operations; of a single operation, its time
  kDuration,     ///< nanoseconds
  kCount,        ///< a whole number
  kBytes,        ///< a whole number of bytes
  kOperations,   ///< a whole number that is always known
  kRatio,        ///< a rate or ratio
  kWord,         ///< one of MetricRow::words
  kSystemCalls,  ///< calls by the name of the system call
};

/// Where a metric stands in a point's JSON.
enum class MetricGroup { kPoint, kTransfer, kFork, kForkChild, kForkParent, kHeld };

/// The pass that measures a metric; of zero_ns, the zeroing or the differential pass.
enum class MetricPass { kAudit, kTiming, kZeroing, kFaults, kHolding, kHoldingWithout };

/// Whether a metric stands in an object of its own kind beside the point's (an entry of first_ops, or of modes), and
/// what it means there. Keys stand in the order of their ranks, and those of one rank in the order of the table.
struct MetricElsewhere {
  int rank = 0;                  ///< 0: it does not stand there
  const char* description = "";  ///< empty: as that of the row
};

/// Where an operation's value is in what the probe wrote; nothing for a metric that is derived from others.
struct MetricSource {
  std::int64_t (*of)(const OpSample&) = nullptr;
  char const (SampleBlock::*na)[kReasonBytes] = nullptr;                          ///< why the pass as a whole has none
  char const (SampleBlock::*unseen)[2 * kReasonBytes] = &SampleBlock::na_unseen;  ///< why single operations have none
};

/// All there is to know about a metric. Adding one takes a row in metrics.inc and the probe that measures it.
struct MetricRow {
  Metric metric;
  MetricGroup group = MetricGroup::kPoint;
  const char* key;       ///< in JSON, within the group
  const char* csv = "";  ///< column of points.csv; a time spread has three, with "_median", "_p05" and "_p95" behind
                         ///< this; empty: none
  const char* name;      ///< for people
  MetricKind kind;
  const char* unit = "";
  MetricPass pass;
  MetricSource source = {};
  const char* words = "";            ///< of a word: "exact|at most"
  std::optional<Metric> bound = {};  ///< the metric that says whether these bytes are exact or an upper bound
  std::uint64_t least = 0;           ///< the smallest number that it can be
  bool of_touching = false;          ///< n/a where nothing is touched
  bool may_be_absent = false;        ///< runs of earlier versions lack it
  MetricElsewhere in_first_op = {};
  MetricElsewhere in_mode = {};
  const char* description;  ///< as in the schema
};

/// The whole table, in the order of JSON.
const std::array<MetricRow, kMetrics>& metric_rows();

const MetricRow& row_of(Metric metric);

/// The rows of an entry of first_ops, in the order of JSON.
const std::vector<const MetricRow*>& first_op_rows();

/// The rows of an entry of modes of this pass, in the order of JSON.
const std::vector<const MetricRow*>& mode_rows(MetricPass pass);

/// The keys on the way to a group, from the point on: {"fork", "child"}.
std::initializer_list<const char*> keys_of(MetricGroup group);

/// "fork.child.copies".
std::string dotted_key(const MetricRow& row);

/// The parts of a time spread, in JSON and behind the names of columns.
inline constexpr std::array<const char*, 3> kSpreadParts{"median", "p05", "p95"};

/// The column names of a metric in points.csv: none, one, or those of a time spread.
std::vector<std::string> csv_columns(const MetricRow& row);

/// The words that a metric may be.
std::vector<std::string> words_of(const MetricRow& row);

/// "timing".
const char* pass_name(MetricPass pass);

/// The metric of this key ("calloc_ns", "fork.child.copies"); nothing if no metric has it.
std::optional<Metric> metric_of_key(std::string_view dotted_key);

}  // namespace zerotax
