#pragma once

#include <cstdint>
#include <string>

namespace zerotax {

/// UTC, "2026-11-20T05:10:00Z": of seconds since 1970, and of now.
std::string utc_text(std::int64_t seconds);
std::string utc_now();

}  // namespace zerotax
