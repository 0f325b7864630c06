#include "core/point_health.h"

namespace zerotax {

bool is_healthy_status(const std::string& status) { return status == "ok" || status == "skipped"; }

bool is_healthy(const Json& point) { return is_healthy_status(text_field(point, "status", "none")); }

}  // namespace zerotax
