#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "meter/sample_block.h"
#include "os/huge_pages.h"
#include "point/allocator.h"

namespace zerotax {

/// How often an operation is repeated in a pass. Never fewer than `min_ops`; never more than `ops`; in between, until
/// the budget is used up.
struct Repeats {
  std::uint32_t ops = 50;
  std::uint32_t min_ops = 50;
  std::uint32_t audit_ops = 8;    ///< audit pass: a fixed number, because its metrics must not depend on speed
  std::uint32_t zeroing_ops = 8;  ///< zeroing pass
  std::int64_t budget_ms = 0;     ///< of the timing pass; 0: no limit
};

/// How the time of the measured process is changed.
struct PointTime {
  ClockMode clock = ClockMode::kReal;
  std::int64_t pause_ns = 0;  ///< slept before each calloc and free
};

/// One point to measure.
struct PointSpec {
  std::size_t allocator;  ///< index into Plan::allocators
  std::string case_name;
  std::uint64_t size_bytes;
  double touch;
  std::string thread;  ///< "main" or "worker"
  Repeats repeats;
  PointTime time = {};
};

/// What a run measures, in order. Points of the same `group` (size, touch, thread) are measured together, allocators
/// interleaved; a run that stops leaves whole groups behind it.
struct Plan {
  std::string study;  ///< "quick", "full", or empty
  double timeout_s = 60;
  bool audit_only = false;  ///< only what is counted is measured: no times
  /// Of the processes that are not audited. If it is not the system's, the memory held is measured, too.
  HugePages huge_pages = HugePages::kOfSystem;
  std::vector<Allocator> allocators;
  std::vector<PointSpec> points;
};

/// What identifies a point within a plan: allocator, case, size, touch, thread.
std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread);
std::string point_key(const Plan& plan, const PointSpec& point);

inline constexpr const char* kPlanSchema = "zerotax.plan/1";

/// The plan as a file (kPlanSchema), from which --resume continues.
Json plan_json(const Plan& plan);

}  // namespace zerotax
