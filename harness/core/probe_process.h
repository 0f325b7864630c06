#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/plan.h"
#include "meter/sample_block.h"
#include "os/child.h"

namespace zerotax {

/// The result of one pass over one point: the sample block as far as it was filled in, and how the process ended.
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
  /// How long its process could run (ChildResult::used).
  [[nodiscard]] std::chrono::nanoseconds used() const { return used_; }
  /// Operations that were finished.
  [[nodiscard]] std::size_t ops() const { return made() ? samples().ops_done : 0; }
  [[nodiscard]] const OpSample& op(std::size_t i) const { return (&samples().ops[0])[i]; }

 private:
  std::unique_ptr<unsigned char[]> samples_;
  Status status_ = Status::kOk;
  std::string reason_;
  std::chrono::nanoseconds used_{0};
};

/// Limits of one pass.
struct PassLimits {
  std::chrono::milliseconds timeout{60'000};  ///< of the point: all of its passes
  std::chrono::nanoseconds used{0};           ///< of it, by passes before
  std::uint64_t resident_bytes = 0;           ///< 0: no limit
};

/// Runs one pass of a point in a fresh process. Never throws for what the allocator does. Throws MachineError if the
/// probe cannot be started or comes from another build, and if it failed under a resource limit, which may be why.
PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits,
                    const std::function<bool()>& stop);

}  // namespace zerotax
