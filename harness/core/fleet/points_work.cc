#include "core/fleet/points_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/size.h"
#include "core/audit_point.h"
#include "core/document.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/point_json.h"
#include "core/scheduler.h"

namespace zerotax::fleet {
namespace {

/// Sizes whose audits take milliseconds, one on each side of what most allocators map, and one far above.
constexpr std::uint64_t kMostOfControl = 16 * kMiB;
constexpr std::size_t kControlSizes = 3;

/// Touches once what the largest points will use.
void warm_up_for(const std::vector<const PointSpec*>& points) {
  std::uint64_t largest = 0;
  for (const PointSpec* point : points) {
    if (why_too_large(memory_needed(*point)).empty()) largest = std::max(largest, memory_needed(*point));
  }
  warm_up(largest + largest / 4);
}

/// A plan that is made in a task, and its work.
class OwnPointsWork : public PointsWork {
 public:
  explicit OwnPointsWork(std::unique_ptr<Plan> plan) : PointsWork(*plan), own_(std::move(plan)) {}

 private:
  std::unique_ptr<Plan> own_;
};

}  // namespace

std::vector<WorkItem> PointsWork::items() const {
  std::vector<WorkItem> items;
  items.reserve(plan_.points.size());
  for (const PointSpec& point : plan_.points) {
    items.push_back({point_key(plan_, point),
                     fmt::format("{}/{}/{}/{}", point.case_name, point.size_bytes, point.touch, point.thread),
                     expected_seconds(plan_, point)});
  }
  return items;
}

std::uint64_t PointsWork::memory_bytes() const {
  std::uint64_t most = 0;
  for (const PointSpec& point : plan_.points) most = std::max(most, memory_needed(point));
  // An allocator may keep the last block beside the next one.
  return 2 * most + 256 * kMiB;
}

int PointsWork::run(const std::set<std::string>& keys, const WorkHooks& hooks) {
  std::vector<const PointSpec*> points;
  RunHooks run;
  for (const PointSpec& point : plan_.points) {
    const std::string key = point_key(plan_, point);
    if (keys.contains(key)) {
      points.push_back(&point);
    } else {
      run.finished.insert(key);
    }
  }
  run.stop = stop_requested;
  run.side_by_side = hooks.side_by_side;
  run.on_point = [&](const Json& point) { hooks.on_result(key_of(point_from_json(point)), point); };
  if (!points.empty() && is_timed()) warm_up_for(points);
  const bool complete = !stop_requested() && run_plan(plan_, run);
  return complete ? 0 : interrupted();
}

std::vector<Json> PointsWork::controls() {
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
  std::vector<Json> controls;
  std::set<std::string> there;
  for (const PointSpec& point : plan_.points) {
    if (stop_requested()) return {};
    const std::string kind = fmt::format("{}/{}/{}", point.allocator, point.case_name, point.size_bytes);
    if (!chosen.contains(point.size_bytes) || point.thread != "main" || !there.insert(kind).second) continue;
    controls.push_back(to_json(audit_point(plan_, point, stop_requested)));
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
  const Json json = read_document(plan, "plan", "start anew, into a new folder");
  return std::make_unique<OwnPointsWork>(std::make_unique<Plan>(plan_from_json(json, plan)));
}

}  // namespace zerotax::fleet
