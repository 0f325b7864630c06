#pragma once

#include "point/plan.h"

namespace zerotax::check {

/// Calls of a point of a baseline: behaviour can change up to the fifth.
inline constexpr Repeats kBaselineRepeats{8, 8, 8, 8, 0};

/// The points whose deterministic figures a baseline holds, for one allocator: every case, nothing touched and
/// everything touched, both threads; sizes on both sides of what allocators are known to treat differently.
Plan baseline_plan(const Allocator& allocator, double timeout_s);

/// The range in which a baseline holds thresholds, in bytes, and the sizes an octave that are looked at first.
struct BaselineRange {
  std::uint64_t from;
  std::uint64_t to;
  unsigned per_octave;
};
BaselineRange baseline_range();

/// "<allocator>-<version>.json", with what a file name should not have replaced by dashes.
std::string baseline_file_name(const Allocator& allocator);

}  // namespace zerotax::check
