#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "meter/sample_block.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax {

/// The result of one pass over one point: the sample block, as far as it was filled in, and how the process ended.
class PassResult {
 public:
  enum class Status { kOk, kFailed, kCrashed, kTimeout, kStopped };

  PassResult() = default;
  PassResult(std::unique_ptr<unsigned char[]> samples, Status status, std::string reason,
             std::chrono::nanoseconds used = {})
      : samples_(std::move(samples)), status_(status), reason_(std::move(reason)), used_(used) {}

  /// Whether the pass was run at all.
  [[nodiscard]] bool made() const { return samples_ != nullptr; }
  [[nodiscard]] const SampleBlock& samples() const { return *reinterpret_cast<const SampleBlock*>(samples_.get()); }
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Returns how long the pass's process could run (ChildResult::used).
  [[nodiscard]] std::chrono::nanoseconds used() const { return used_; }
  /// Returns the number of finished operations.
  [[nodiscard]] std::size_t ops() const { return made() ? samples().ops_done : 0; }
  [[nodiscard]] const OpSample& op(std::size_t i) const { return (&samples().ops[0])[i]; }

 private:
  std::unique_ptr<unsigned char[]> samples_;
  Status status_ = Status::kOk;
  std::string reason_;
  std::chrono::nanoseconds used_{0};
};

/// The passes over one point.
struct Passes {
  PassResult audit;
  PassResult timing;
  PassResult zeroing;
  PassResult differential;
  PassResult faults;  ///< the faults pass; run only for a case that forks
  // Passes with the huge pages that the plan selects, and passes without huge pages:
  PassResult held;
  PassResult held_without;
};

/// Whether the audit saw zeros that no memset wrote. zero_ns must then come from the differential pass.
bool has_inline_zeroing(const PassResult& audit);

/// Whether a clock around memset could measure any zeroing, in calloc or in free.
bool needs_zeroing_pass(const PassResult& audit);

/// Whether zero_ns must come from the differential pass, because memset did not write the zeros, or the calls to memset
/// were too short to time.
bool needs_differential_pass(const Passes& passes);

/// Whether the audit was complete and saw no zeros written, so that there is nothing to time.
bool has_no_zeroing(const PassResult& audit);

/// Returns a point computed from its passes. A metric that no pass could measure is n/a with the reason.
Point measured_point(const Plan& plan, const PointSpec& spec, const Passes& passes);

/// Returns a point that was not measured.
Point skipped_point(const Plan& plan, const PointSpec& spec, const std::string& reason);

}  // namespace zerotax
