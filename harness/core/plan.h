#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/allocators.h"
#include "meter/sample_block.h"

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

/// Bytes that an operation of a point needs at most, if the allocator keeps nothing.
std::uint64_t memory_needed(const PointSpec& point);

/// What a run measures, in order. Points of the same `group` (size, touch, thread) are measured together, allocators
/// interleaved; a run that stops leaves whole groups behind it.
struct Plan {
  std::string study;  ///< "quick", "full", or empty
  double timeout_s = 60;
  bool audit_only = false;  ///< only what is counted is measured: no times
  std::vector<Allocator> allocators;
  std::vector<PointSpec> points;
};

/// The dimensions whose product is a plan.
struct PlanAxes {
  std::vector<std::string> cases;
  std::vector<std::uint64_t> sizes;
  std::vector<double> touches;
  std::vector<std::string> threads;
};

/// Throws UsageError for an unknown case, a size outside the address space, a touched fraction outside 0 to 1,
/// or an unknown thread.
void check_axes(const PlanAxes& axes);

/// Adds every combination that is not there yet, sizes outermost and allocators innermost.
void add_points(Plan& plan, const PlanAxes& axes, const Repeats& repeats);

/// What identifies a point within a plan: allocator, case, size, touch, thread.
std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread);
std::string point_key(const Plan& plan, const PointSpec& point);

/// The plan as a file ("zerotax.plan/1"), from which --resume continues, and back. Throws UsageError if it is not a
/// plan.
Json plan_json(const Plan& plan);
Plan plan_from_json(const Json& json, const std::string& file);

}  // namespace zerotax
