#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "meter/sample_block.h"
#include "os/huge_pages.h"

namespace zerotax {

/// An allocator under test, in one configuration.
struct Allocator {
  std::string name;
  std::string probe;                       ///< path of the probe program
  std::optional<std::string> preload;      ///< path of the library preloaded into it; empty if linked
  std::map<std::string, std::string> env;  ///< its configuration
  std::string version;                     ///< as the running library says; may be a build-id, or empty
};

/// {"name", "version", "preload", "env"}.
Json allocator_json(const Allocator& allocator);

/// The version as a metric: a string, or {"na": ...}.
Json version_json(const Allocator& allocator);

/// "jemalloc 5.3.0"; the name alone where the version is not known.
std::string name_and_version(const Allocator& allocator);

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

/// How many operations an audit makes of `ops` that were asked for: all of them, but beyond eight no more than 1000,
/// and no more than come to 2 GiB. By these two numbers alone, for its figures must not depend on speed.
std::uint32_t audited_operations(std::uint32_t ops, std::uint64_t size_bytes);

/// Sizes from `from` to `to`, both included, `per_octave` to each doubling.
std::vector<std::uint64_t> size_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave);

}  // namespace zerotax
