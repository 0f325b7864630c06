#include "point/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/size.h"

namespace zerotax {

Json version_json(const Allocator& allocator) {
  if (allocator.version.empty()) return not_available("the library states no version and has no build-id");
  return allocator.version;
}

std::string name_and_version(const Allocator& allocator) {
  return allocator.name + (allocator.version.empty() ? "" : " " + allocator.version);
}

Json allocator_json(const Allocator& allocator) {
  Json json;
  json["name"] = allocator.name;
  json["version"] = version_json(allocator);
  json["preload"] = allocator.preload ? Json(*allocator.preload) : Json(nullptr);
  json["env"] = Json::object();
  for (const auto& [key, value] : allocator.env) json["env"][key] = value;
  return json;
}

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

std::uint32_t audited_operations(std::uint32_t ops, std::uint64_t size_bytes) {
  constexpr std::uint64_t kAlways = 8;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(2 * kGiB / std::max<std::uint64_t>(size_bytes, 1), kAlways, 1000);
  return static_cast<std::uint32_t>(std::max(kAlways, std::min<std::uint64_t>(ops, most)));
}

std::vector<std::uint64_t> size_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave) {
  if (from == 0 || to < from || per_octave == 0) throw std::invalid_argument("invalid grid");
  std::vector<std::uint64_t> grid;
  for (unsigned step = 0;; ++step) {
    const double size = static_cast<double>(from) * std::exp2(static_cast<double>(step) / per_octave);
    if (size >= static_cast<double>(to)) break;
    const auto whole = static_cast<std::uint64_t>(size);
    if (grid.empty() || whole > grid.back()) grid.push_back(whole);
  }
  grid.push_back(to);
  return grid;
}

}  // namespace zerotax
