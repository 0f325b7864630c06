#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "point/metric_values.h"

namespace zerotax {

/// How the measurement of a point ended.
enum class PointStatus : std::uint8_t { kOk, kFailed, kNotZero, kMisaligned, kCrashed, kTimeout, kSkipped };

/// "not_zero", as in JSON.
const char* word_of(PointStatus status);

/// Nothing for a word that is not a status.
std::optional<PointStatus> status_of_word(std::string_view word);

/// Every status, in the order of the schema.
const std::vector<PointStatus>& all_statuses();

/// Whether the allocator did what it must: measured to its end and nothing promised was broken, or not measured at all.
bool is_healthy(PointStatus status);

/// Whether the point was measured to its end, promises kept or not.
bool has_result(PointStatus status);

/// One of the first operations of a process.
struct FirstOperation : MetricValues {
  std::uint64_t op = 0;  ///< counted from 1
};

/// Calls of the steady state that are alike, where not all of them are.
struct CallMode : MetricValues {
  std::uint64_t ops = 0;
  double share = 0;  ///< of all calls of the steady state
};

/// One measurement: an allocator in a configuration, a case, a size, a touched fraction and a thread, with all that was
/// measured of it (results/schema/point.schema.json).
struct Point : MetricValues {
  std::string allocator;
  MetricValue version;                 ///< a word, or why it is not known
  std::optional<std::string> preload;  ///< path of the library; nothing if the allocator is linked into the probe
  std::map<std::string, std::string> env;
  std::string case_name;
  std::uint64_t size_bytes = 0;
  double touch = 0;
  std::string thread;  ///< "main" or "worker"
  std::uint64_t ops = 0;
  std::optional<std::uint64_t> audited_ops;  ///< absent in runs of earlier versions

  PointStatus status = PointStatus::kOk;
  std::optional<std::string> reason;  ///< why the status is not ok
  std::vector<FirstOperation> first_ops;
  std::vector<CallMode> audit_modes;   ///< kinds of calls that the audit saw, most frequent first; empty: all alike
  std::vector<CallMode> timing_modes;  ///< the same of the timing pass
  std::vector<std::string> violations;
  std::optional<std::string> host;  ///< of a fleet, which measured it (run.json, environments); nothing in other runs

  [[nodiscard]] bool is_ok() const { return status == PointStatus::kOk; }
  /// The process's first operation; nullptr if there is none.
  [[nodiscard]] const FirstOperation* first() const { return first_ops.empty() ? nullptr : &first_ops.front(); }
  /// A promise that the allocator broke, kNotZero or kMisaligned.
  [[nodiscard]] bool has_violation(PointStatus promise) const;
};

bool is_healthy(const Point& point);
bool has_result(const Point& point);

/// What identifies a point within a run (point_key of run/plan.h).
std::string key_of(const Point& point);

/// "allocator version [KEY=VALUE …]".
std::string allocator_label(const Point& point);

/// " [KEY=VALUE KEY=VALUE]": what follows an allocator's name wherever it has settings; "" if it has none.
std::string settings_words(const std::map<std::string, std::string>& env);

/// Whether a point's status says that the allocator did what it must: measured to its end and nothing promised was
/// broken ("ok"), or not measured at all ("skipped").
bool is_healthy_status(const std::string& status);

/// What no schema can check of a point's metrics and those of its first operations: more redundant bytes than zeroed
/// ones, or percentiles that do not ascend. Returns it with its place below the point, or nothing.
std::string contradiction_in(const Point& point);

// What a whole operation of a measured point took: calloc, touching and free. Touching counts where something is
// touched, and must have been measured there. Nothing if a part was not measured.

/// Nanoseconds in the steady state: the medians of the parts, added.
std::optional<double> operation_ns(const Point& point);

/// Minor faults in the steady state.
std::optional<std::uint64_t> operation_faults(const Point& point);

/// The same of the process's first operation.
std::optional<double> first_operation_ns(const Point& point);
std::optional<std::uint64_t> first_operation_faults(const Point& point);

// Metrics in the words of tables; "n/a" for what was not measured.

/// "0", "20 MiB".
std::string bytes_word(const MetricValues& values, Metric metric);
/// "25,607".
std::string count_word(const MetricValues& values, Metric metric);
/// "1.09 ms": of a spread, its median.
std::string time_word(const MetricValues& values, Metric metric);

/// For a point whose calls are not alike, a line for each kind of call, of the audit and then of the timing pass:
/// "2 of 7 calls: 5,121 page faults, 1.09 ms". Empty if they are alike, or were not compared.
std::vector<std::string> mode_lines(const Point& point);

}  // namespace zerotax
