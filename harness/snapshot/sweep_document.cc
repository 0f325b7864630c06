#include <fmt/format.h>

#include <algorithm>

#include "core/results.h"
#include "os/numa_nodes.h"
#include "snapshot/run_figures.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

/// Shares of the pages that lie on the first and on the second node, where a placement was asked for.
Json placed_json(const SnapshotRun& run) {
  if (!run.has("array_pages_seen")) return not_available("no placement was asked for");
  const auto shares = [&](const std::string& what) {
    const auto seen = static_cast<double>(run.figure(what + "_pages_seen"));
    if (seen == 0) return not_available("the parent has none of its pages");
    return Json{{"first", static_cast<double>(run.figure(what + "_on_first")) / seen},
                {"second", static_cast<double>(run.figure(what + "_on_second")) / seen}};
  };
  return {{"array", shares("array")}, {"destination", shares("destination")}};
}

/// What the timing runs say; each is n/a if there are none.
void add_times(Json& json, const SweepRuns& runs, const std::string& why) {
  if (runs.status != "ok") {
    for (const char* key : {"writers_wall_ns", "copy_ns", "child_end_ns", "writers_user_ns", "writers_system_ns",
                            "copy_done_first_runs", "cpu_time", "faults", "placed"}) {
      json[key] = not_available(why);
    }
    return;
  }
  const std::vector<SnapshotRun>& timing = runs.timing;
  const bool snapshot = timing.front().figure("takes_snapshot") != 0;
  const Json none = not_available("it takes no snapshot");
  json["writers_wall_ns"] = spread_json(timing, time_between("begin_ns", "end_ns"));
  json["copy_ns"] = snapshot ? spread_json(timing, time_between("stopped_ns", "complete_ns")) : none;
  json["child_end_ns"] = timing.front().figure("child") != 0
                             ? spread_json(timing, time_between("stopped_ns", "gone_ns"))
                             : not_available("it has no child");
  json["writers_user_ns"] = spread_json(timing, figure_of("writers_user_ns"));
  json["writers_system_ns"] = spread_json(timing, figure_of("writers_system_ns"));
  json["copy_done_first_runs"] =
      snapshot
          ? Json(std::count_if(timing.begin(), timing.end(),
                               [](const SnapshotRun& run) { return run.figure("complete_ns") < run.figure("end_ns"); }))
          : none;
  json["cpu_time"] = runs.cpu_time;
  json["faults"] = runs.faults;
  json["placed"] = placed_json(timing.back());
}

Json row_json(const SweepRow& row, const SweepRuns& runs) {
  const SnapshotParameters& parameters = row.parameters;
  Json json{{"alternative", row.alternative.name},       {"array_bytes", parameters.array_bytes},
            {"batch_bytes", parameters.batch_bytes},     {"writers", parameters.writers},
            {"checkpointers", parameters.checkpointers}, {"passes", parameters.passes}};
  json["placement"] = parameters.placement;
  json["status"] = runs.status.empty() ? "skipped" : runs.status;
  const std::string reason = runs.status.empty() ? "interrupted before it was finished" : runs.reason;
  json["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  json["runs"] = runs.timing.size();
  add_times(json, runs, reason.empty() ? "it failed" : reason);
  return json;
}

}  // namespace

Json sweep_json(const SweepPlan& plan, const std::vector<SweepRuns>& runs, const std::string& started,
                const std::vector<std::string>& command, const Json& environment) {
  const bool complete = std::none_of(runs.begin(), runs.end(), [](const SweepRuns& row) { return row.status.empty(); });
  Json json;
  json["schema"] = "zerotax.snapshot_sweep/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["state"] = complete ? "complete" : "interrupted";
  json["started"] = started;
  json["command"] = command;
  json["environment"] = environment;
  json["allocator"] = allocator_json(plan.allocator);
  json["repeat"] = plan.repeat;
  json["axes"] = {{"writers", plan.axes.writers},
                  {"checkpointers", plan.axes.checkpointers},
                  {"array_bytes", plan.axes.array_bytes},
                  {"batch_bytes", plan.axes.batch_bytes}};
  json["axes"]["placement"] =
      numa_nodes().size() > 1 ? Json(plan.axes.placement) : not_available("this machine has one NUMA node");
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < plan.rows.size(); ++i) json["rows"].push_back(row_json(plan.rows[i], runs[i]));
  add_sweep_verdict(json);
  return json;
}

}  // namespace zerotax::snapshot
