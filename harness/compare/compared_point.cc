#include "compare/compared_point.h"

#include <fmt/format.h>

#include "core/operation_cost.h"

namespace zerotax::compare {
namespace {

/// The sum of figures, or the first of them that is not available. What is not touched has no faults of touching.
Json sum_of(const Json& point, std::initializer_list<const char*> keys) {
  std::int64_t sum = 0;
  for (const char* key : keys) {
    const Json& figure = point.at(key);
    if (figure.is_number()) {
      sum += figure.get<std::int64_t>();
    } else if (std::string_view(key) != "touch_faults" || point.at("touch") != 0.0) {
      return figure;
    }
  }
  return sum;
}

Json calls_of(const Json& syscalls) {
  if (is_not_available(syscalls)) return syscalls;
  std::int64_t sum = 0;
  for (const auto& [name, calls] : syscalls.items()) sum += calls.get<std::int64_t>();
  return sum;
}

}  // namespace

std::string compared_key(const ComparedPoint& point) {
  return fmt::format("{}/{}/{:g}/{}", point.case_name, point.size_bytes, point.touch, point.thread);
}

void add_figures(const Json& point, bool with_times, Cost cost, ComparedSide& side) {
  const auto status = point.at("status").get<std::string>();
  if (status != "ok") {
    side.invalid = fmt::format("{}: {}", status, point.at("reason").get<std::string>());
    return;
  }
  for (const char* key : {"zeroed_bytes", "redundant_zeroed_bytes"}) side.work[key].push_back(point.at(key));
  side.work["syscalls"].push_back(calls_of(point.at("syscalls")));
  if (!with_times) return;
  side.work["faults"].push_back(sum_of(point, {"calloc_faults", "touch_faults", "free_faults"}));
  side.ns = cost == Cost::kCalloc ? calloc_ns(point) : operation_ns(point);
}

}  // namespace zerotax::compare
