#include "history/version_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "core/fleet/job_folder.h"
#include "core/interrupt.h"
#include "core/progress.h"

namespace zerotax::history {
namespace {

constexpr const char* kVersionsKind = "versions";
/// So much that each version is a shard of its own: how long a build takes is not known.
constexpr double kSecondsOfVersion = 120;

Json to_json(const VersionPlan& plan) {
  Json json{{"repository", plan.repository},
            {"cache", plan.cache},
            {"recipe", plan.recipe.json()},
            {"tools", Json::array()},
            {"grid", plan.grid.json()},
            {"timeout_s", plan.grid.timeout_s},
            {"jobs", plan.jobs},
            {"build_timeout_s", plan.build_timeout_s},
            {"commits", Json::array()}};
  for (const RecipeTool& tool : plan.recipe.tools) {
    json["tools"].push_back({{"program", tool.program}, {"package", tool.package}});
  }
  for (const Commit& commit : plan.commits) json["commits"].push_back({{"id", commit.id}, {"tag", commit.tag}});
  return json;
}

VersionPlan plan_from(const Json& json) {
  VersionPlan plan;
  plan.repository = json.at("repository");
  plan.cache = json.at("cache");
  Json recipe = json.at("recipe");
  recipe["tools"] = json.at("tools");
  plan.recipe = recipe_from_json(recipe);
  plan.grid = grid_from_json(json.at("grid"), json.at("timeout_s"));
  plan.jobs = json.at("jobs");
  plan.build_timeout_s = json.at("build_timeout_s");
  for (const Json& commit : json.at("commits")) {
    plan.commits.push_back({commit.at("id"), commit.at("tag"), "", "", "", {}});
  }
  return plan;
}

std::unique_ptr<fleet::Work> make_version_work(const Json& description, const std::string& file) {
  try {
    return std::make_unique<VersionWork>(plan_from(description));
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), "delete it, and start anew");
  }
}

const fleet::WorkKind versions_kind(kVersionsKind, make_version_work);

}  // namespace

std::vector<fleet::WorkItem> VersionWork::items() const {
  std::vector<fleet::WorkItem> items;
  items.reserve(plan_.commits.size());
  for (const Commit& commit : plan_.commits) items.push_back({commit.id, commit.id, kSecondsOfVersion});
  return items;
}

std::uint64_t VersionWork::memory_bytes() const {
  // A compiler of C++ takes up to a GiB; an allocator may keep the last block beside the next one.
  const std::uint64_t building = (plan_.jobs + 1) * kGiB;
  return std::max(building, 2 * plan_.grid.last_bytes() + 256 * kMiB);
}

int VersionWork::run(const std::set<std::string>& keys, const fleet::WorkHooks& hooks) {
  check_tools(plan_.recipe);
  try {
    const Git git;
    const Repository repository(git, plan_.repository);
    const Cache cache(plan_.cache);
    Workspace workspace(git, repository);
    const Builder builder{cache, plan_.recipe, plan_.jobs, plan_.build_timeout_s, false};
    const Versions versions(builder, workspace);
    Grid grid = plan_.grid;
    grid.side_by_side = hooks.side_by_side == 0 ? 0 : plan_.jobs;
    Progress progress("versions", keys.size(), static_cast<double>(keys.size()));
    for (const Commit& commit : plan_.commits) {
      if (!keys.contains(commit.id)) continue;
      const Version version = versions.measured(
          commit, grid, [&](const char* what) { progress.show(fmt::format("{} {}", what, commit.name())); });
      progress.advance(1);
      hooks.on_result(commit.id, to_json(version));
    }
  } catch (const Interrupted&) {
    return interrupted();
  }
  return 0;
}

MeasuredVersions measure_on_slurm(const VersionPlan& plan, const fleet::Place& place, const std::string& results) {
  const Json description = to_json(plan);
  // Other versions, or other sizes of them, are another job of the same folder, with the same cache.
  const fleet::JobRequest request{results, fmt::format("versions-{}", digits_of(description.dump()).substr(0, 8)),
                                  kVersionsKind, description};
  std::set<std::string> missing;
  for (const Commit& commit : plan.commits) missing.insert(commit.id);
  VersionWork work(plan);
  MeasuredVersions measured;
  fleet::run(work, missing, place, request, [&](const std::string& id, const Json& result, const std::string& host) {
    const auto commit =
        std::find_if(plan.commits.begin(), plan.commits.end(), [&](const Commit& each) { return each.id == id; });
    try {
      Version version = version_from_json(result, *commit);
      version.host = host;
      measured.by_commit.emplace(id, std::move(version));
    } catch (const std::exception& failure) {
      throw UsageError(fmt::format("the result of {} from {} is damaged: {}", commit->name(), host, failure.what()),
                       "give --out a new folder");
    }
  });
  measured.environments = fleet::read_hosts(fleet::JobFolder(request.results, request.name).hosts());
  return measured;
}

}  // namespace zerotax::history
