#include "snapshot/run_figures.h"

#include <algorithm>
#include <cstring>

#include "base/statistics.h"

namespace zerotax::snapshot {

Figure figure_of(const char* name) {
  return [name](const SnapshotRun& run) { return run.figure(name); };
}

Figure time_between(const char* earlier, const char* later) {
  return [=](const SnapshotRun& run) { return run.figure(later) - run.figure(earlier); };
}

Json spread_json(const std::vector<SnapshotRun>& runs, const Figure& figure) {
  std::vector<double> values(runs.size());
  std::transform(runs.begin(), runs.end(), values.begin(),
                 [&](const SnapshotRun& run) { return static_cast<double>(figure(run)); });
  const Spread found = spread(values);
  return {{"median", found.median}, {"p05", found.p05}, {"p95", found.p95}};
}

Json after_end_json(const std::vector<SnapshotRun>& runs) {
  if (runs.empty()) return not_available(kNotRun);
  Json json{{"runs", runs.size()},
            {"writers_user_ns", spread_json(runs, figure_of("resumed_user_ns"))},
            {"writers_system_ns", spread_json(runs, figure_of("resumed_system_ns"))},
            {"writers_faults", spread_json(runs, figure_of("resumed_faults"))},
            {"helper", not_available("it has no helper thread")}};
  if (!runs.front().has("helper_tid")) return json;
  json["helper"] = {{"wall_ns", spread_json(runs, time_between("helper_begin_ns", "helper_end_ns"))},
                    {"user_ns", spread_json(runs, figure_of("helper_user_ns"))},
                    {"system_ns", spread_json(runs, figure_of("helper_system_ns"))},
                    {"faults", spread_json(runs, figure_of("helper_faults"))},
                    {"failed_bytes", spread_json(runs, figure_of("helper_failed_bytes"))}};
  return json;
}

Json child_json(const std::vector<SnapshotRun>& runs, const SnapshotParameters& parameters) {
  Json json{{"user_ns", spread_json(runs, figure_of("child_user_ns"))},
            {"system_ns", spread_json(runs, figure_of("child_system_ns"))},
            {"batches", (parameters.array_bytes + parameters.batch_bytes - 1) / parameters.batch_bytes}};
  const SnapshotRun& last = runs.back();
  const bool unmaps = last.has("unmapped_batches");
  json["unmapped_batches"] = unmaps ? Json(last.figure("unmapped_batches")) : not_available("it unmaps nothing");
  const int error = static_cast<int>(last.figure("unmap_error"));
  json["unmap_error"] = error == 0 ? Json(nullptr) : Json(std::strerror(error));
  return json;
}

}  // namespace zerotax::snapshot
