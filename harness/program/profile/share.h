#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/measured.h"
#include "base/units.h"

namespace zerotax::profile {

/// "12.5 %" of so many samples; "n/a" of what was not sampled.
inline std::string share_text(const Measured<std::uint64_t>& samples, std::uint64_t of) {
  if (!samples) return "n/a";
  return format_percent(static_cast<double>(*samples) / static_cast<double>(std::max<std::uint64_t>(of, 1)));
}

}  // namespace zerotax::profile
