#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "os/load.h"
#include "run/fleet/fleet.h"
#include "run/fleet/job_folder.h"
#include "run/fleet/points_work.h"
#include "run/interrupt.h"

namespace zerotax::fleet {
namespace {

std::map<std::string, WorkMaker>& makers() {
  // The points of a plan are core's own: a static object in a library would be left out by the linker.
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
    // With each result, so that it is known of a task that is killed as well. Counts are right under any load.
    std::optional<Load> load;
    if (plan->timed) load = load_between(start, read_load());
    JobFolder::add_result(file.get(), {key, host, result, load});
  };
  return ThisHost(plan->timed ? 0 : 1).run(*work, missing, on_result);
}

}  // namespace zerotax::fleet
