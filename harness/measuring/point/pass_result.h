#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "meter/sample_block.h"

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

}  // namespace zerotax
