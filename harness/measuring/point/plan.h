#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "meter/sample_block.h"
#include "os/huge_pages.h"

namespace zerotax {

/// An allocator under test, in one configuration.
struct Allocator {
  std::string name;
  std::string probe;                       ///< path of the probe program
  std::optional<std::string> preload;      ///< path of the library preloaded into the probe; absent if the allocator is
                                           ///< linked into the probe
  std::map<std::string, std::string> env;  ///< configuration of the allocator
  std::string version;                     ///< version that the running library reported; may be a build ID, or empty
};

struct AllocatorEntry {
  RESULT("allocator", "An allocator in one configuration.");
  FIELD(std::string, name, "Name of the allocator, as in the points.");
  FIELD(Measured<std::string>, version, "Version of the allocator, or the reason why it is unknown.");
  FIELD(OrNull<std::string>, preload, "Path of the preloaded library; null if the allocator is linked into the probe.");
  MEMBER(env, "Environment variables that configure the allocator; empty for its defaults.", kMayBeEmpty);
  std::map<std::string, std::string> env;
};
AllocatorEntry entry_of(const Allocator& allocator);
Json allocator_json(const Allocator& allocator);

/// Returns the version as a metric: a string, or {"na": ...}.
Json version_json(const Allocator& allocator);

/// Returns the allocator's name and version, such as "jemalloc 5.3.0", or the name alone if the version is unknown.
std::string name_and_version(const Allocator& allocator);

/// The number of repetitions of an operation in a pass: at least `min_ops` times and at most `ops` times. Between these
/// limits, operations are repeated until the budget is used up.
struct Repeats {
  RESULT("repeats");
  MEMBER(ops, "Maximum number of operations in a timing pass.", least(1));
  std::uint32_t ops = 50;
  MEMBER(min_ops, "Minimum number of operations in a timing pass.", least(1));
  std::uint32_t min_ops = 50;
  /// Fixed, because the audit's metrics must not depend on speed.
  MEMBER(audit_ops, "Number of operations in an audit pass.", least(1));
  std::uint32_t audit_ops = 8;
  MEMBER(zeroing_ops, "Number of operations in a zeroing pass.", least(1));
  std::uint32_t zeroing_ops = 8;
  FIELD(std::int64_t, budget_ms,
        "Milliseconds after which a timing pass starts no further operation; 0 means no limit.");
};

/// Changes to the time that the measured process reads.
struct PointTime {
  ClockMode clock = ClockMode::kReal;
  std::int64_t pause_ns = 0;  ///< time slept before each calloc and free
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

/// The points of a run, in order. Points of the same `group` (size, touch, thread) are measured together, with
/// allocators interleaved. A run that stops leaves only complete groups.
struct Plan {
  std::string study;  ///< "quick", "full", or empty
  double timeout_s = 60;
  bool audit_only = false;  ///< measure only counts, and no times
  /// Setting for the processes that are not audited. If this setting differs from the system's setting, the memory held
  /// is measured too.
  HugePages huge_pages = HugePages::kOfSystem;
  std::vector<Allocator> allocators;
  std::vector<PointSpec> points;
};

/// Returns the key that identifies a point within a plan: allocator, case, size, touch, thread.
std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread);
std::string point_key(const Plan& plan, const PointSpec& point);

struct PlannedPoint {
  RESULT("point", "A point of the plan.");
  FIELD(std::string, allocator, "Name of one of the allocators.");
  MEMBER_AS("case", case_name, "Name of the case.");
  std::string case_name;
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1), most(140737488355328));
  FIELD(double, touch, "Fraction of the pages written between calloc and free.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", one_of("main|worker"));
  FIELD(Repeats, repeats, "Number of times that the operation is repeated.");
};

struct PlanDocument {
  RESULT("zerotax plan",
         "The points that a run measures: plan.json of a results folder. --resume continues this plan.");
  SCHEMA_FIELD("zerotax.plan/1");
  std::string schema;
  FIELD(OrNull<std::string>, study, "The study that this plan belongs to; null for a run of chosen points.",
        one_of("quick|full"));
  FIELD(double, timeout_s, "Time limit of one point, in seconds.", above(0), most(86400));
  FIELD(std::optional<bool>, audit_only, "Present if each point is only audited: counts are measured, but no times.",
        with(R"({"const": true})"));
  FIELD(std::optional<std::string>, thp,
        "Setting of transparent huge pages for processes that are not audited; absent if the system's setting applies.",
        one_of("always|madvise|never"));
  FIELD(std::vector<AllocatorEntry>, allocators, "The allocators of the points, each in one configuration.",
        least_items(1));
  FIELD(std::vector<PlannedPoint>, points, "The points, in the order in which they are measured.");
};

inline constexpr const char* kPlanSchema = "zerotax.plan/1";

/// Returns the plan as a file (kPlanSchema), from which --resume continues.
Json plan_json(const Plan& plan);

/// Returns how many operations an audit makes if `ops` are requested: `ops`, but at least eight and at most 1000.
/// Beyond eight, all operations together allocate at most 2 GiB. Only the two parameters decide, because the audit's
/// metrics must not depend on speed.
std::uint32_t audited_operations(std::uint32_t ops, std::uint64_t size_bytes);

/// Returns sizes from `from` to `to`, both included, with `per_octave` sizes in each doubling.
std::vector<std::uint64_t> size_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave);

}  // namespace zerotax
