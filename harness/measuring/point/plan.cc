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

AllocatorEntry entry_of(const Allocator& allocator) {
  AllocatorEntry entry{allocator.name, version_json(allocator).get<Measured<std::string>>(), {}, allocator.env};
  if (allocator.preload) entry.preload.emplace(*allocator.preload);
  return entry;
}

Json allocator_json(const Allocator& allocator) { return entry_of(allocator); }

std::string point_key(const Plan& plan, const PointSpec& point) {
  return point_key(plan.allocators[point.allocator].name, point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string point_key(const std::string& allocator, const std::string& case_name, std::uint64_t size_bytes,
                      double touch, const std::string& thread) {
  return fmt::format("{}/{}/{}/{}/{}", allocator, case_name, size_bytes, touch, thread);
}

Json plan_json(const Plan& plan) {
  PlanDocument document{.schema = kPlanSchema, .timeout_s = plan.timeout_s};
  if (!plan.study.empty()) document.study.emplace(plan.study);
  if (plan.audit_only) document.audit_only = true;
  if (plan.huge_pages != HugePages::kOfSystem) document.thp = word_of(plan.huge_pages);
  for (const Allocator& allocator : plan.allocators) document.allocators.push_back(entry_of(allocator));
  for (const PointSpec& point : plan.points) {
    document.points.push_back({plan.allocators[point.allocator].name, point.case_name, point.size_bytes, point.touch,
                               point.thread, point.repeats});
  }
  return document;
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
