#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "point/metric_value.h"

namespace zerotax {

/// The outcome of the measurement of a point.
enum class PointStatus : std::uint8_t { kOk, kFailed, kNotZero, kMisaligned, kCrashed, kTimeout, kSkipped };
ENUM_WORDS(PointStatus, "ok", "failed", "not_zero", "misaligned", "crashed", "timeout", "skipped")

/// Returns the status as in JSON: "not_zero".
const char* word_of(PointStatus status);

/// Returns nothing if the word is not a status.
std::optional<PointStatus> status_of_word(std::string_view word);

/// Returns every status, in the order of the schema.
const std::vector<PointStatus>& all_statuses();

/// Whether the allocator behaved as it must. Either the measurement was completed and no promise was broken, or nothing
/// was measured.
bool is_healthy(PointStatus status);

/// Whether the measurement was completed, even if promises were broken.
bool has_result(PointStatus status);

/// One of the first operations of a process.
struct FirstOperation : MetricValues {
  std::uint64_t op = 0;  ///< number of the operation, counted from 1
};

/// A group of similar calls of the steady state, if the calls differ.
struct CallMode : MetricValues {
  std::uint64_t ops = 0;
  double share = 0;  ///< share of all calls of the steady state
};

/// One measurement, of an allocator in a configuration, a case, a size, a touched fraction and a thread, with all its
/// metrics (results/schema/point.schema.json).
struct Point : MetricValues {
  std::string allocator;
  MetricValue version;                 ///< a word, or the reason why it is unknown
  std::optional<std::string> preload;  ///< path of the library; absent if the allocator is linked into the probe
  std::map<std::string, std::string> env;
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  std::uint64_t ops = 0;
  std::optional<std::uint64_t> audited_ops;  ///< number of operations in the audit; absent in runs of earlier versions

  PointStatus status = PointStatus::kOk;
  std::optional<std::string> reason;  ///< why the status is not ok
  std::vector<FirstOperation> first_ops;
  std::vector<CallMode> audit_modes;   ///< kinds of calls that the audit saw, most frequent first; empty if all are
                                       ///< alike
  std::vector<CallMode> timing_modes;  ///< kinds of calls that the timing pass saw
  std::vector<std::string> violations;
  std::optional<std::string> host;  ///< host of the fleet that measured the point (run.json, environments); absent in
                                    ///< other runs

  [[nodiscard]] bool is_ok() const { return status == PointStatus::kOk; }
  /// Returns the process's first operation, or nullptr if there is none.
  [[nodiscard]] const FirstOperation* first() const { return first_ops.empty() ? nullptr : &first_ops.front(); }
  /// Whether the allocator broke a promise (kNotZero or kMisaligned).
  [[nodiscard]] bool has_violation(PointStatus promise) const;
};

bool is_healthy(const Point& point);
bool has_result(const Point& point);

/// Returns the key that identifies a point within a run (point_key of point/plan.h).
std::string key_of(const Point& point);

/// Returns the allocator's name, version and settings, in the form "allocator version [KEY=VALUE …]".
std::string allocator_label(const Point& point);

/// Returns " [KEY=VALUE KEY=VALUE]" to append to the name of an allocator with settings, or "" for an allocator without
/// settings.
std::string settings_words(const std::map<std::string, std::string>& env);

/// Whether the allocator behaved as it must, according to a point's status. Either the measurement was completed and no
/// promise was broken ("ok"), or nothing was measured ("skipped").
bool is_healthy_status(const std::string& status);

/// Returns a contradiction that no schema can find, with its position below the point, or "". Examples of
/// contradictions are redundant bytes that exceed zeroed bytes, and percentiles that do not ascend. The metrics of the
/// point and of its first operations are checked.
std::string contradiction_in(const Point& point);

// Cost of a whole operation of a measured point: calloc, touching and free. If something is touched, touching must have
// been measured. Returns nothing if a part was not measured.

/// Returns the cost in the steady state in nanoseconds, as the sum of the parts' medians.
std::optional<double> operation_ns(const Point& point);

/// Returns the cost in the steady state in minor faults.
std::optional<std::uint64_t> operation_faults(const Point& point);

/// Return the cost of the process's first operation, in nanoseconds and in minor faults.
std::optional<double> first_operation_ns(const Point& point);
std::optional<std::uint64_t> first_operation_faults(const Point& point);

// Metrics formatted for tables, with "n/a" for values that were not measured.

/// Returns a number of bytes, such as "20 MiB".
std::string bytes_word(const MetricValues& values, Metric metric);
/// Returns a count, such as "25,607".
std::string count_word(const MetricValues& values, Metric metric);
/// Returns a time, such as "1.09 ms"; the median of a spread.
std::string time_word(const MetricValues& values, Metric metric);

/// Returns a line for each kind of call of a point whose calls differ: "2 of 7 calls: 5,121 page faults, 1.09 ms".
/// Kinds of the audit come before kinds of the timing pass. Returns no lines if the calls are alike, or were not
/// compared.
std::vector<std::string> mode_lines(const Point& point);

}  // namespace zerotax
