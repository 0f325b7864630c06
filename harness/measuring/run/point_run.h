#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "point/plan.h"
#include "point/point.h"
#include "run/experiment.h"
#include "run/probe_process.h"

namespace zerotax {

/// Returns the seconds that a process is expected to take for `ops` operations of a point. The value covers the start
/// of the process and the bytes that each operation writes. The value is only precise enough to estimate the remaining
/// time.
double expected_seconds(const PointSpec& point, double ops);
/// Returns the expected seconds of all passes of a point.
double expected_seconds(const Plan& plan, const PointSpec& point);

/// Returns the limits of a pass: the timeout, and resident_limit() for a block of this size.
PassLimits limits_of(const PointSpec& point, double timeout_s);

/// Runs the passes of a point, each in a fresh process. A point that does not fit in memory is skipped.
class PointRun {
 public:
  PointRun(const Plan& plan, const PointSpec& spec);

  /// Runs the audit pass, which counts zeroing, faults and system calls.
  void audit() { passes_.audit = pass(Pass::kAudit); }
  /// Counts the faults of the steady state in a timing pass. The times are invalid because other work runs beside the
  /// pass, but the number of faults is right.
  void count_faults();
  /// Measures the memory held, if the plan has a setting of huge pages.
  void hold();
  /// Runs the passes after the audit that measure times: the timing pass, and any others that the audit's results
  /// require.
  void time();

  [[nodiscard]] Point point() const;

 private:
  PassResult pass(Pass which);
  PassResult pass(Pass which, HugePages huge_pages);

  const Plan& plan_;
  const PointSpec& spec_;
  std::string skipped_;               ///< reason for skipping the point; empty if it is measured
  std::chrono::nanoseconds used_{0};  ///< part of the timeout used so far
  Passes passes_;
};

/// Measures the deterministic metrics of one point in an audit pass; times and faults are n/a. A point that does not
/// fit in memory is skipped. Throws Stop.
Point audit_point(const Plan& plan, const PointSpec& spec);
/// Measures a point as audit_point() does, and counts the faults of the steady state.
Point count_point(const Plan& plan, const PointSpec& spec);
/// Runs all passes of one point, while nothing else runs.
Point measure_point(const Plan& plan, const PointSpec& spec);

/// Returns the points of a plan as items with JSON results. For each size and case, the audits come first, side by
/// side. The timing and zeroing passes follow one after the other, while nothing else runs. The plan must outlive the
/// items.
std::vector<Item> items_of(const Plan& plan);

/// The part of an operation whose cost is compared.
enum class Cost {
  kCalloc,  ///< calloc alone
  kTotal,   ///< calloc, the touch, and free
};

/// A pair of consecutive processes, with the median cost of an operation in each. The faults are the minor faults of an
/// operation (lower median over calloc, touch and free together).
struct CostPair {
  double a_ns;
  double b_ns;
  bool a_first;
  std::int64_t a_faults = 0;
  std::int64_t b_faults = 0;
};

/// A place of a comparison: one size and touch, with the pairs that were measured there.
struct PairedPlace {
  std::uint64_t size_bytes;
  double touch;
  unsigned pass = 0;  ///< number of the refinement that added the place; 0 for the first grid
  std::vector<CostPair> pairs;
  std::string left_out;  ///< reason why the place is not used; empty if it is used
  std::string case_name = "calloc_loop";
  std::string thread = {};  ///< thread of the operations; empty for the setup's thread
};

/// The settings shared by all places of a comparison.
struct PairedSetup {
  Allocator a;
  Allocator b;
  std::string thread;  ///< "main" or "worker"
  Cost cost = Cost::kTotal;
  unsigned pairs = 9;     ///< number of pairs at each place
  double timeout_s = 60;  ///< time limit of one process
  /// Seed of the coin flips that decide which side of a pair goes first; without a seed, the order alternates.
  std::optional<std::uint64_t> coins = {};
};

/// Measures `setup.pairs` pairs at each place, while nothing else runs. Each round measures one pair at every place, so
/// that a machine that slows down slows all places equally. The order within a pair alternates with places and rounds,
/// or is decided by coin flips. A place is left out after its process failed, or if its block does not fit in memory.
/// Returns false if a signal requested termination; the last round is then incomplete.
bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places);

}  // namespace zerotax
