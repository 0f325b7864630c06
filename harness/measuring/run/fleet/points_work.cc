#include "run/fleet/points_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/size.h"
#include "files/document.h"
#include "run/make_plan.h"

namespace zerotax::fleet {
namespace {

/// Sizes whose audits take milliseconds, one on each side of what most allocators map, and one far above.
constexpr std::uint64_t kMostOfControl = 16 * kMiB;
constexpr std::size_t kControlSizes = 3;

/// A plan that is made in a task, and its work.
class OwnPointsWork : public PointsWork {
 public:
  explicit OwnPointsWork(std::unique_ptr<Plan> plan) : PointsWork(*plan), own_(std::move(plan)) {}

 private:
  std::unique_ptr<Plan> own_;
};

}  // namespace

std::uint64_t PointsWork::memory_bytes() const {
  std::uint64_t most = 0;
  for (const PointSpec& point : plan_.points) most = std::max(most, memory_needed(point));
  // An allocator may keep the last block beside the next one.
  return 2 * most + 256 * kMiB;
}

std::vector<Point> PointsWork::controls() const {
  std::vector<std::uint64_t> sizes;
  for (const PointSpec& point : plan_.points) {
    if (memory_needed(point) <= kMostOfControl) sizes.push_back(point.size_bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::set<std::uint64_t> chosen;
  for (std::size_t i = 0; i < kControlSizes && !sizes.empty(); ++i) {
    chosen.insert(sizes[i * (sizes.size() - 1) / (kControlSizes - 1)]);
  }
  std::vector<Point> controls;
  std::set<std::string> there;
  for (const PointSpec& point : plan_.points) {
    const std::string kind = fmt::format("{}/{}/{}", point.allocator, point.case_name, point.size_bytes);
    if (!chosen.contains(point.size_bytes) || point.thread != "main" || !there.insert(kind).second) continue;
    controls.push_back(audit_point(plan_, point));
  }
  return controls;
}

JobRequest points_job(const std::string& results) {
  return {results, kPointsKind, kPointsKind, {{"plan", "plan.json"}}};
}

std::unique_ptr<Work> make_points_work(const Json& /*description*/, const std::string& file) {
  // RESULTS/fleet/points/fleet.json: the plan is that of the results folder.
  const auto results = std::filesystem::path(file).parent_path().parent_path().parent_path();
  const std::string plan = (results / "plan.json").string();
  const Json json = read_document(plan, "plan", "start again, in a new folder");
  return std::make_unique<OwnPointsWork>(std::make_unique<Plan>(plan_from_json(json, plan)));
}

}  // namespace zerotax::fleet
