#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "point/metric_values.h"
#include "point/point_status.h"

namespace zerotax {

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

}  // namespace zerotax
