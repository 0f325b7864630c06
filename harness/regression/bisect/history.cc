#include "bisect/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "bisect/document.h"
#include "run/experiment.h"
#include "run/fleet/job_folder.h"

namespace zerotax::bisect {
namespace {

constexpr const char* kVersionsKind = "versions";
/// Seconds that a version is assumed to take, because the duration of a build is unknown. The value is so large that
/// each version becomes a separate shard.
constexpr double kSecondsOfVersion = 120;

std::unique_ptr<fleet::Work> make_version_work(const Json& description, const std::string& file) {
  try {
    return std::make_unique<VersionWork>(description.get<VersionPlan>());
  } catch (const Json::exception& failure) {
    throw UsageError(fmt::format("{} is damaged: {}", file, failure.what()), "delete the file, and start again");
  }
}

const fleet::WorkKind versions_kind(kVersionsKind, make_version_work);

/// Builds and measures the versions of a plan in one task of a job on a shared host.
struct Workshop {
  explicit Workshop(const VersionPlan& plan)
      : git(plan.repository),
        cache(plan.cache),
        workspace(&git),
        builder{cache, plan.recipe, plan.jobs, plan.build_timeout_s, false},
        versions(builder, workspace),
        grid(plan.grid) {
    check_tools(plan.recipe);
    grid.side_by_side = plan.jobs;
  }

  const Git git;
  const Cache cache;
  Workspace workspace;
  const Builder builder;
  const Versions versions;
  Grid grid;
};

/// Relative cost of a version to build. A known version costs almost nothing.
constexpr double kWork = 1;
constexpr double kReading = 0.01;

/// Returns the nearest earlier row that was measured, or nullptr.
Row* measured_before(std::vector<Row>& rows, std::size_t row) {
  for (std::size_t i = row; i-- > 0;) {
    if (rows[i].version.measurement) return &rows[i];
  }
  return nullptr;
}

}  // namespace

std::vector<Item> VersionWork::items() const {
  std::vector<Item> items;
  items.reserve(plan_.commits.size());
  // The first finished item creates the workshop, because a process that only waits for a job builds nothing.
  const auto workshop = std::make_shared<std::unique_ptr<Workshop>>();
  for (const Commit& commit : plan_.commits) {
    Item& item = items.emplace_back();
    item.key = item.group = commit.id;
    item.label = commit.name();
    item.seconds = kSecondsOfVersion;
    const auto version = std::make_shared<Version>();
    item.measure = [this, &commit, workshop, version](const Say& say) {
      if (!*workshop) *workshop = std::make_unique<Workshop>(plan_);
      *version = (*workshop)->versions.measured(
          commit, (*workshop)->grid, [&](const char* what) { say(fmt::format("{} {}", what, commit.name())); });
    };
    item.result = [version] { return Json(*version); };
  }
  return items;
}

std::uint64_t VersionWork::memory_bytes() const {
  // A C++ compiler takes up to a GiB, and an allocator may keep the last block while it gets the next block.
  const std::uint64_t building = (plan_.jobs + 1) * kGiB;
  return std::max(building, 2 * plan_.grid.last_bytes() + 256 * kMiB);
}

MeasuredVersions measure_on_slurm(const VersionPlan& plan, const fleet::Place& place, const std::string& results) {
  const Json description = plan;
  // A plan with different versions or sizes is a separate job in the same folder, and uses the same cache.
  const fleet::JobRequest request{results, fmt::format("versions-{}", digits_of(json_line(description)).substr(0, 8)),
                                  kVersionsKind, description};
  std::set<std::string> missing;
  for (const Commit& commit : plan.commits) missing.insert(commit.id);
  const VersionWork work(plan);
  MeasuredVersions measured;
  const auto on_result = [&](const std::string& id, const Json& result, const std::string& host) {
    const auto commit =
        std::find_if(plan.commits.begin(), plan.commits.end(), [&](const Commit& each) { return each.id == id; });
    try {
      auto version = result.get<Version>();
      version.commit = *commit;
      version.host = host;
      measured.by_commit.emplace(id, std::move(version));
    } catch (const std::exception& failure) {
      throw UsageError(fmt::format("the result of {} from {} is damaged: {}", commit->name(), host, failure.what()),
                       "give --out a new folder");
    }
  };
  // Versions that a signal left unfinished are missing from the result.
  static_cast<void>(fleet::run(work, missing, place, request, on_result));
  measured.environments = fleet::read_hosts(fleet::JobFolder(request.results, request.name).hosts());
  return measured;
}

History run_history(const Versions& versions, const std::vector<Commit>& commits, const Grid& grid,
                    const MeasuredVersions& measured) {
  const auto& known = measured.by_commit;
  History history;
  history.environments = measured.environments;
  std::vector<Item> items;
  for (const Commit& commit : commits) {
    Row& row = history.rows.emplace_back();
    const auto found = known.find(commit.id);
    const bool is_built = found != known.end();
    if (is_built) row.version = found->second;
    row.version.commit = commit;
    Item& item = items.emplace_back();
    item.label = commit.name();
    item.seconds = is_built || versions.is_known(commit, grid) ? kReading : kWork;
    item.measure = [&, is_built, at = items.size() - 1](const Say& say) {
      Row& current = history.rows[at];
      const auto watch = [&](const char* what) { say(fmt::format("{} {}", what, commit.name())); };
      if (!is_built) current.version = versions.measured(commit, grid, watch);
      Row* before = measured_before(history.rows, at);
      if (before == nullptr || !current.version.measurement) return;
      current.compared_with = before->version.commit.name();
      current.difference = difference_between(versions, before->version, current.version, grid, watch);
    };
  }
  history.complete = Experiment("versions").run(items);
  for (std::size_t i = 0; i < history.rows.size() && !history.complete; ++i) {
    Row& row = history.rows[i];
    if (row.version.state == Version::State::kNotMeasured) row.version.reason = "interrupted";
    const Row* before = measured_before(history.rows, i);
    if (before != nullptr && row.version.measurement) row.compared_with = before->version.commit.name();
  }
  return history;
}

}  // namespace zerotax::bisect
