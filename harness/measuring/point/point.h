#pragma once

#include "point/pass_result.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax {

/// The passes over one point.
struct Passes {
  PassResult audit;
  PassResult timing;
  PassResult zeroing;
  PassResult differential;
  PassResult faults;  ///< of a case that forks
  // With the huge pages that the plan asks for, and with none:
  PassResult held;
  PassResult held_without;
};

/// Whether the audit saw zeros written by no memset: then zero_ns must come from the differential pass.
bool has_inline_zeroing(const PassResult& audit);

/// Whether a clock around memset could measure anything, in calloc or in free.
bool needs_zeroing_pass(const PassResult& audit);

/// Whether zero_ns must come from the differential pass: zeros were written by no memset, or by memsets too short to
/// time.
bool needs_differential_pass(const Passes& passes);

/// Whether the audit was complete and saw no zeros written: then there is nothing to time.
bool has_no_zeroing(const PassResult& audit);

/// A point from its passes. Every metric that no pass could measure is n/a with the reason.
Point measured_point(const Plan& plan, const PointSpec& spec, const Passes& passes);

/// A point that was not measured.
Point skipped_point(const Plan& plan, const PointSpec& spec, const std::string& reason);

}  // namespace zerotax
