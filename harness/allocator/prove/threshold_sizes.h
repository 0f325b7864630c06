#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "point/plan.h"

namespace zerotax::prove {

/// Returns powers of two, which most allocators use as limits.
std::vector<std::uint64_t> usual_thresholds();

/// Returns the exact thresholds of an allocator that a quick search finds within the time limit, and otherwise sizes at
/// which allocators often change behavior. Writes a file to the folder, and calls `look` several times a second.
std::vector<std::uint64_t> threshold_sizes(const Allocator& allocator, double seconds, const std::string& folder,
                                           const std::function<void()>& look);

}  // namespace zerotax::prove
