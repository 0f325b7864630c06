#pragma once

#include "run/fleet/work.h"
#include "thresholds/session.h"

namespace zerotax::thresholds {

inline constexpr const char* kLanesKind = "lanes";

/// "glibc/0.01/worker": unique within a search.
std::string lane_key(const ThresholdLane& lane);

/// The lanes of a session, each with its result as an object of "zerotax.thresholds/1".
class LaneWork : public fleet::Work {
 public:
  explicit LaneWork(ThresholdSession& session) : session_(session) {}

  [[nodiscard]] std::string title() const override { return "searching lanes"; }
  /// Touched blocks are populated, and take longest: they come first, so that no long lane is left alone at the end.
  [[nodiscard]] std::vector<Item> items() const override;
  /// Nothing but counts decides about thresholds.
  [[nodiscard]] bool is_timed() const override { return false; }
  [[nodiscard]] std::uint64_t memory_bytes() const override;

 private:
  ThresholdSession& session_;
};

}  // namespace zerotax::thresholds
