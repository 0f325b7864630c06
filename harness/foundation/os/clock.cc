#include "os/clock.h"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>

namespace zerotax {

std::string utc_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string utc_now() { return utc_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())); }

}  // namespace zerotax
