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

/// Expected seconds of a process that does so many operations of a point, good enough to estimate the time left: a
/// start, and what each operation writes. The only such estimate.
double expected_seconds(const PointSpec& point, double ops);
/// The same of all passes of a point.
double expected_seconds(const Plan& plan, const PointSpec& point);

/// The limits of a pass: the timeout, and what resident_limit says of a block of this size.
PassLimits limits_of(const PointSpec& point, double timeout_s);

/// A point on its way through its passes, each a fresh process. One that does not fit in memory is skipped.
class PointRun {
 public:
  PointRun(const Plan& plan, const PointSpec& spec);

  /// The audit pass: what is counted.
  void audit() { passes_.audit = pass(Pass::kAudit); }
  /// The faults of the steady state, by a timing pass: how long it takes depends on what runs beside it, but not how
  /// many faults it takes. So its times mean nothing.
  void count_faults();
  /// The memory held, where the plan says with which huge pages.
  void hold();
  /// After the audit, what takes times: the timing pass, and what the audit calls for.
  void time();

  [[nodiscard]] Point point() const;

 private:
  PassResult pass(Pass which);
  PassResult pass(Pass which, HugePages huge_pages);

  const Plan& plan_;
  const PointSpec& spec_;
  std::string skipped_;               ///< why; empty if it is measured
  std::chrono::nanoseconds used_{0};  ///< of the timeout
  Passes passes_;
};

/// The deterministic figures of one point, by an audit pass alone: times and faults are n/a. A point that does not fit
/// in memory is skipped. Throws Stop.
Point audit_point(const Plan& plan, const PointSpec& spec);
/// The same, and the faults of the steady state.
Point count_point(const Plan& plan, const PointSpec& spec);
/// All passes of one point, with nothing beside them.
Point measure_point(const Plan& plan, const PointSpec& spec);

/// The points of a plan, each with its result as JSON: size by size and case by case first the audits,
/// side by side, then the timing and zeroing passes, one after the other and nothing beside them. The plan must outlive
/// the items.
std::vector<Item> items_of(const Plan& plan);

/// Which cost of an operation is compared.
enum class Cost {
  kCalloc,  ///< calloc alone
  kTotal,   ///< calloc, the touch, and free
};

/// Two processes that ran one right after the other: the median cost of an operation in each, in nanoseconds, and the
/// minor faults of one (calloc, touch and free; the lower median).
struct CostPair {
  double a_ns;
  double b_ns;
  bool a_first;
  std::int64_t a_faults = 0;
  std::int64_t b_faults = 0;
};

/// One place of a comparison, and what was measured there.
struct PairedPlace {
  std::uint64_t size_bytes;
  double touch;
  unsigned pass = 0;  ///< 0: of the first grid; from 1 on: added by that refinement
  std::vector<CostPair> pairs;
  std::string left_out;  ///< why it is not used, or empty
  std::string case_name = "calloc_loop";
  std::string thread = {};  ///< empty: that of the setup
};

/// What stays the same over all places of a comparison.
struct PairedSetup {
  Allocator a;
  Allocator b;
  std::string thread;  ///< "main" or "worker"
  Cost cost = Cost::kTotal;
  unsigned pairs = 9;     ///< at each place
  double timeout_s = 60;  ///< of one process
  /// Which of a pair is first is decided by coin flips of this seed; without one, it alternates.
  std::optional<std::uint64_t> coins = {};
};

/// Measures `setup.pairs` pairs at each place, round by round: one pair at every place, then the next, so that a
/// machine that slows down slows all places alike. Nothing runs beside it; which of a pair is first alternates with
/// places and rounds, or is decided by a coin flip. A place whose process fails, or does not fit in memory, is left out
/// from then on. Returns false if a signal asked for an end: then the last round is not whole.
bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places);

}  // namespace zerotax
