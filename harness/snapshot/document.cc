#include "snapshot/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "snapshot/cpu_time.h"
#include "snapshot/faults.h"
#include "snapshot/kernel_sections.h"
#include "snapshot/run_figures.h"

namespace zerotax::snapshot {
namespace {

Json wall_json(const std::vector<SnapshotRun>& runs) { return spread_json(runs, time_between("begin_ns", "end_ns")); }

double median_wall(const std::vector<SnapshotRun>& runs) { return wall_json(runs).at("median"); }

Json memory_json(const SnapshotRun& run) {
  // Without Pss_Anon (Linux 5.4) only shared memory would be seen.
  if (run.figure("first_bytes") == 0) return not_available("the kernel does not report anonymous PSS (Linux 5.4)");
  return {{"before_bytes", run.figure("first_bytes")},
          {"peak_bytes", run.figure("peak_bytes")},
          {"samples", run.figure("memory_samples")}};
}

Json part_of(const SnapshotStep& step, const SnapshotRun& run) {
  if (!run.ok()) {
    return not_available(run.status == "not_watched" ? run.reason : fmt::format("{}: {}", run.status, run.reason));
  }
  switch (step.pass) {
    case SnapshotPass::kMemory:
      return memory_json(run);
    case SnapshotPass::kCpuTime:
      return cpu_time_json(run);
    case SnapshotPass::kFaults:
      if (!run.every_fault && run.figure("told_by_sharing") == 0) {
        return not_available("an ordinary user cannot see enough of this alternative's faults: run as root");
      }
      return snapshot_faults_json(run);
    default:
      return cpu_json(run);
  }
}

Json without_figures(Json json, const std::string& why) {
  for (const char* figure :
       {"has_child", "writers_wall_ns", "slowdown", "writers_user_ns", "writers_system_ns", "stopped_ns", "snapshot_ns",
        "checked_elements", "child", "after_end", "memory", "faults", "faults_held", "cpu", "cpu_held", "cpu_time"}) {
    json[figure] = not_available(why);
  }
  return json;
}

}  // namespace

std::uint64_t added_bytes(const Json& result) {
  const Json& memory = result.at("memory");
  return memory.at("peak_bytes").get<std::uint64_t>() - memory.at("before_bytes").get<std::uint64_t>();
}

SnapshotReport::SnapshotReport(SnapshotPlan plan)
    : plan_(std::move(plan)), results_(plan_.allocators.size() * plan_.alternatives.size()) {
  for (Result& result : results_) {
    for (Json* part :
         {&result.memory, &result.faults, &result.held_faults, &result.cpu, &result.held_cpu, &result.cpu_time}) {
      *part = not_available(kNotRun);
    }
  }
}

const SnapshotReport::Result& SnapshotReport::at(std::size_t allocator, std::size_t alternative) const {
  return results_[allocator * plan_.alternatives.size() + alternative];
}

bool SnapshotReport::take(const SnapshotStep& step, const SnapshotRun& run) {
  Result& result = results_[step.allocator * plan_.alternatives.size() + step.alternative];
  // Watching slows a program down: a timeout then says nothing about the alternative.
  const bool watched = step.pass != SnapshotPass::kTiming || step.held;
  const bool only_this = watched && (run.status == "timeout" || run.status == "not_watched");
  if (!only_this) {
    result.status = run.status;
    result.reason = run.reason;
  }
  switch (step.pass) {
    case SnapshotPass::kTiming:
      if (run.ok()) (step.held ? result.held_timing : result.timing).push_back(run);
      break;
    case SnapshotPass::kCpuTime:
      result.cpu_time = part_of(step, run);
      break;
    case SnapshotPass::kMemory:
      result.memory = part_of(step, run);
      break;
    case SnapshotPass::kFaults:
      (step.held ? result.held_faults : result.faults) = part_of(step, run);
      break;
    case SnapshotPass::kProfile:
      (step.held ? result.held_cpu : result.cpu) = part_of(step, run);
      break;
  }
  result.has_child = result.has_child || run.figure("child") != 0;
  // One that only a child can see is checked where no time is measured.
  result.checked_elements = std::max(result.checked_elements, run.figure("checked_elements"));
  result.takes_snapshot =
      result.takes_snapshot || run.figure("takes_snapshot") != 0 || run.figure("checked_elements") > 0;
  return result.status == "ok";
}

Json SnapshotReport::result_json(std::size_t allocator, std::size_t alternative) const {
  const Result& result = at(allocator, alternative);
  Json json = allocator_json(plan_.allocators[allocator]);
  json["allocator"] = json["name"];
  json.erase("name");
  json["alternative"] = plan_.alternatives[alternative].name;
  json["status"] = result.status.empty() ? "skipped" : result.status;
  const std::string reason = result.status.empty() ? kNotRun : result.reason;
  json["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  const SnapshotParameters& parameters = plan_.parameters_of(plan_.alternatives[alternative]);
  json["parameters"] = {
      {"writers", parameters.writers}, {"checkpointers", parameters.checkpointers}, {"passes", parameters.passes}};
  json["baseline"] = plan_.alternatives[alternative].baseline;
  json["runs"] = result.timing.size();
  if (json["status"] != "ok")
    return without_figures(json, fmt::format("{}: {}", json["status"].get<std::string>(), reason));
  json["has_child"] = result.has_child;
  json["writers_wall_ns"] = wall_json(result.timing);
  const std::string& baseline = plan_.alternatives[alternative].baseline;
  json["slowdown"] = not_available(fmt::format("the alternative {} was not measured", baseline));
  for (std::size_t i = 0; i < plan_.alternatives.size(); ++i) {
    const Result& none = at(allocator, i);
    if (plan_.alternatives[i].name != baseline || none.status != "ok") continue;
    json["slowdown"] = median_wall(result.timing) / median_wall(none.timing);
  }
  json["writers_user_ns"] = spread_json(result.timing, figure_of("writers_user_ns"));
  json["writers_system_ns"] = spread_json(result.timing, figure_of("writers_system_ns"));
  json["stopped_ns"] = spread_json(result.timing, time_between("stopped_ns", "released_ns"));
  const bool snapshot = result.takes_snapshot;
  const Json none = not_available("it takes no snapshot");
  json["snapshot_ns"] = snapshot ? spread_json(result.timing, time_between("stopped_ns", "complete_ns")) : none;
  json["checked_elements"] = !snapshot                      ? none
                             : result.checked_elements == 0 ? not_available("the run that checks it was not made")
                                                            : Json(result.checked_elements);
  json["child"] = result.has_child ? child_json(result.timing, parameters) : not_available("it has no child");
  json["after_end"] =
      result.has_child ? after_end_json(result.held_timing) : not_available("it has no child to wait for");
  json["memory"] = result.memory;
  json["faults"] = result.faults;
  const Json no_child = not_available("it has no child to wait for");
  json["faults_held"] = result.has_child ? result.held_faults : no_child;
  json["cpu"] = result.cpu;
  json["cpu_held"] = result.has_child ? result.held_cpu : no_child;
  json["cpu_time"] = result.cpu_time;
  return json;
}

Json SnapshotReport::json(bool complete, const std::string& started, const std::vector<std::string>& command,
                          const Json& environment) const {
  Json json;
  json["schema"] = "zerotax.snapshot/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["state"] = complete ? "complete" : "interrupted";
  json["started"] = started;
  json["command"] = command;
  json["environment"] = environment;
  const SnapshotParameters& parameters = plan_.parameters;
  json["parameters"] = {{"array_bytes", parameters.array_bytes}, {"batch_bytes", parameters.batch_bytes},
                        {"writers", parameters.writers},         {"checkpointers", parameters.checkpointers},
                        {"passes", parameters.passes},           {"repeat", plan_.repeat}};
  json["parameters"]["hold"] = parameters.hold < 0 ? Json(nullptr) : Json(parameters.hold);
  json["alternatives"] = Json::array();
  for (const SnapshotAlternative& alternative : plan_.alternatives) {
    json["alternatives"].push_back(
        {{"name", alternative.name},
         {"summary", alternative.summary},
         {"remedy_of", alternative.remedy_of.empty() ? Json(nullptr) : Json(alternative.remedy_of)},
         {"published", alternative.published}});
  }
  json["results"] = Json::array();
  for (std::size_t i = 0; i < plan_.allocators.size(); ++i) {
    for (std::size_t j = 0; j < plan_.alternatives.size(); ++j) json["results"].push_back(result_json(i, j));
  }
  add_verdict(json);
  return json;
}

}  // namespace zerotax::snapshot
