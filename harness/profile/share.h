#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/units.h"

namespace zerotax::profile {

/// "12.5 %" of samples, both numbers of a profile's object; "n/a" of what was not sampled.
inline std::string share_text(const Json& samples, const Json& of) {
  if (!samples.is_number()) return "n/a";
  return format_percent(samples.get<double>() / std::max(of.get<double>(), 1.0));
}

}  // namespace zerotax::profile
