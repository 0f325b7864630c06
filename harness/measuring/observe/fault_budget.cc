#include "observe/fault_budget.h"

#include <algorithm>
#include <cstdlib>

namespace zerotax {

FaultBudget FaultBudget::chosen(std::uint64_t seed) {
  constexpr double kSecondsAtOnce = 2.4;
  const char* const text = std::getenv("ZEROTAX_FAULTS_PER_SECOND");
  const double number = text != nullptr ? std::atof(text) : 0;
  return number >= 1 ? FaultBudget(seed, number, kSecondsAtOnce * number) : FaultBudget(seed);
}

void FaultBudget::refill(Now now) {
  if (refilled_.ns != 0 && now.ns > refilled_.ns && now.cpu_ns >= refilled_.cpu_ns) {
    const std::uint64_t passed = now.ns - refilled_.ns;
    // Processes that began and ended since then are not among those that were asked.
    const std::uint64_t used = std::clamp(now.cpu_ns - refilled_.cpu_ns, passed / 4, passed * kMostCpus);
    left_ = std::min(at_once_, left_ + static_cast<double>(used) / 1e9 * per_second_);
  }
  refilled_ = now;
}

bool FaultBudget::spend(std::uint64_t faults, Now now) {
  refill(now);
  left_ -= static_cast<double>(faults);
  return left_ > 0;
}

void FaultBudget::close(Now now) {
  refill(now);
  closed_ns_ = now.ns;
  // A program that faults in a rhythm must not meet the same moment of it each time.
  wanted_ = std::min(kWindow, per_second_ / 4) * (0.5 + std::generate_canonical<double, 53>(random_));
}

bool FaultBudget::may_open(Now now) {
  refill(now);
  return left_ >= wanted_ && now.ns >= closed_ns_ + opening_ns_ * kShare;
}

std::uint64_t Shares::next() {
  if (handed_out_ == parts_) return 1;
  ++handed_out_;
  // 128 bits are not needed: a slice has fewer than 2^20 faults, and no gap 2^44.
  const std::uint64_t until = all_ * handed_out_ / parts_;
  const std::uint64_t part = until - taken_;
  taken_ = until;
  return part;
}

}  // namespace zerotax
