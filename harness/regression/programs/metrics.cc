#include "programs/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace zerotax::programs {

std::string format_value(Unit unit, std::uint64_t value) {
  return unit == Unit::kBytes ? format_size(value) : format_count(value);
}

std::string format_range(Unit unit, const Range& range) {
  const std::string low = format_value(unit, range.low);
  return range.width() == 0 ? low : fmt::format("{} to {}", low, format_value(unit, range.high));
}

std::uint64_t least_slack(Unit unit, const Range& range) {
  constexpr std::uint64_t kCounts = 16;
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 10;
  constexpr std::uint64_t kPart = 50;
  return std::max(range.high / kPart, unit == Unit::kBytes ? kBytes : kCounts);
}

std::uint64_t slack_of(Unit unit, const Range& range) { return std::max(range.width(), least_slack(unit, range)); }

}  // namespace zerotax::programs
