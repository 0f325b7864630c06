#pragma once

#include "core/fleet/work.h"
#include "thresholds/session.h"

namespace zerotax::thresholds {

inline constexpr const char* kLanesKind = "lanes";

/// Thrown out of a search that is to end.
struct SearchInterrupted {};

/// "glibc/0.01/worker": unique within a search.
std::string lane_key(const ThresholdLane& lane);

/// What a task needs to search the lanes of a session.
Json lanes_json(const Plan& plan, const ThresholdAxes& axes);

/// The lanes of a session, each with its result as an object of "zerotax.thresholds/1".
class LaneWork : public fleet::Work {
 public:
  explicit LaneWork(ThresholdSession& session) : session_(session) {}

  [[nodiscard]] std::vector<fleet::WorkItem> items() const override;
  /// Nothing but counts decides about thresholds.
  [[nodiscard]] bool is_timed() const override { return false; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  int run(const std::set<std::string>& keys, const fleet::WorkHooks& hooks) override;

 private:
  ThresholdSession& session_;
};

}  // namespace zerotax::thresholds
