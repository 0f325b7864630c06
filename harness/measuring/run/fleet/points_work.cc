#include "run/fleet/points_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/size.h"
#include "files/document.h"
#include "os/load.h"
#include "run/fleet/fleet.h"
#include "run/fleet/job_folder.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax::fleet {
namespace {

/// Maximum memory that a control needs, so that its audit takes milliseconds. Most allocators start to map blocks at
/// far smaller sizes, so controls lie on both sides of that change.
constexpr std::uint64_t kMostOfControl = 16 * kMiB;
constexpr std::size_t kControlSizes = 3;

/// The work of a task, with the plan that the task has read.
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
  // An allocator may keep the previous block beside the next one.
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
  // The plan is in the results folder, and `file` is RESULTS/fleet/points/fleet.json.
  const auto results = std::filesystem::path(file).parent_path().parent_path().parent_path();
  const std::string plan = (results / "plan.json").string();
  const Json json = read_document(plan, "plan", "start again in a new folder");
  return std::make_unique<OwnPointsWork>(std::make_unique<Plan>(plan_from_json(json, plan)));
}

namespace {

std::map<std::string, WorkMaker>& makers() {
  // The kind for points is listed here, because the linker would omit a static WorkKind object in this library.
  static std::map<std::string, WorkMaker> all{{kPointsKind, make_points_work}};
  return all;
}

std::unique_ptr<Work> make_work(const JobPlan& plan, const std::string& file) {
  const auto found = makers().find(plan.kind);
  if (found == makers().end()) {
    throw UsageError(fmt::format("{} describes work of the unknown kind '{}'", file, plan.kind),
                     "use the same version of zerotax on every host");
  }
  return found->second(plan.work, file);
}

}  // namespace

WorkKind::WorkKind(const char* name, WorkMaker maker) { makers().emplace(name, maker); }

bool run_shard(const std::string& folder, std::size_t shard) {
  JobFolder job(folder);
  const auto plan = job.read_plan();
  if (!plan) {
    throw UsageError(fmt::format("{} is not the folder of a job: it has no fleet.json", folder),
                     "give RESULTS/fleet/NAME of a run with --on slurm");
  }
  if (shard >= plan->shards.size()) {
    throw UsageError(fmt::format("{} has no shard {}", folder, shard),
                     fmt::format("give 0 to {}", plan->shards.size() - 1));
  }
  const std::unique_ptr<Work> work = make_work(*plan, job.file("fleet.json"));
  std::set<std::string> missing(plan->shards[shard].begin(), plan->shards[shard].end());
  for (const auto& [key, result] : job.new_results()) missing.erase(key);
  if (missing.empty()) return true;
  const std::string host = enter_host(job.hosts());
  try {
    measure_controls(job.hosts(), host, *work);
  } catch (const Stop&) {
    return false;
  }
  const UniqueFd file = job.start_results(shard);
  const LoadReading start = read_load();
  const auto on_result = [&](const std::string& key, const Json& result, const std::string& /*here*/) {
    // The load is added to each result, so that the load is known even for a killed task. Counts are right under any
    // load.
    std::optional<Load> load;
    if (plan->timed) load = load_between(start, read_load());
    JobFolder::add_result(file.get(), {key, host, result, load});
  };
  return ThisHost(plan->timed ? 0 : 1).run(*work, missing, on_result);
}

}  // namespace zerotax::fleet
