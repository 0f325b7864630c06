#include "point/plan.h"

#include <fmt/format.h>

namespace zerotax {
namespace {

Json repeats_json(const Repeats& repeats) {
  return Json{{"ops", repeats.ops},
              {"min_ops", repeats.min_ops},
              {"audit_ops", repeats.audit_ops},
              {"zeroing_ops", repeats.zeroing_ops},
              {"budget_ms", repeats.budget_ms}};
}

}  // namespace

std::string point_key(const Plan& plan, const PointSpec& point) {
  return point_key(plan.allocators[point.allocator].name, point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread) {
  return fmt::format("{}/{}/{}/{}/{}", allocator, case_name, size_bytes, touch, thread);
}

Json plan_json(const Plan& plan) {
  Json json;
  json["schema"] = kPlanSchema;
  json["study"] = plan.study.empty() ? Json(nullptr) : Json(plan.study);
  json["timeout_s"] = plan.timeout_s;
  if (plan.audit_only) json["audit_only"] = true;
  if (plan.huge_pages != HugePages::kOfSystem) json["thp"] = word_of(plan.huge_pages);
  json["allocators"] = Json::array();
  for (const Allocator& allocator : plan.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["points"] = Json::array();
  for (const PointSpec& point : plan.points) {
    json["points"].push_back({{"allocator", plan.allocators[point.allocator].name},
                              {"case", point.case_name},
                              {"size_bytes", point.size_bytes},
                              {"touch", point.touch},
                              {"thread", point.thread},
                              {"repeats", repeats_json(point.repeats)}});
  }
  return json;
}

}  // namespace zerotax
