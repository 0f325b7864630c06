#include "core/point_health.h"

#include "core/point_status.h"

namespace zerotax {

bool is_healthy_status(const std::string& status) {
  const auto known = status_of_word(status);
  return known && is_healthy(*known);
}

bool is_healthy(const Json& point) { return is_healthy_status(text_field(point, "status", "none")); }

}  // namespace zerotax
