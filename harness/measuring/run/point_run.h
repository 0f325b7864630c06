#pragma once

#include <chrono>
#include <string>
#include <vector>

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

}  // namespace zerotax
