#pragma once

#include <cstdint>
#include <string>

namespace zerotax {

/// Return the UTC time, such as "2026-11-20T05:10:00Z". `seconds` counts from 1970.
std::string utc_text(std::int64_t seconds);
std::string utc_now();

}  // namespace zerotax
