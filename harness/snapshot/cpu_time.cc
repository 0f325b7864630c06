#include "snapshot/cpu_time.h"

#include <algorithm>

namespace zerotax::snapshot {

Json cpu_time_json(const SnapshotRun& run) {
  if (run.cpu_time.size() < 2) return not_available("the run was shorter than the time between two samples");
  const std::int64_t begin = run.cpu_time.front().at_ns;
  // Beginning and end of the writers, the snapshot, the child's end: in the time of the samples.
  const auto since = [&](const char* figure) { return std::max<std::int64_t>(run.figure(figure) - begin, 0); };
  Json json{{"writers_begin_ns", since("begin_ns")},
            {"writers_end_ns", since("end_ns")},
            {"snapshot_ns", since("stopped_ns")}};
  json["child_end_ns"] = run.figure("child") != 0 ? Json(since("gone_ns")) : not_available("it has no child");
  json["intervals"] = Json::array();
  for (std::size_t i = 1; i < run.cpu_time.size(); ++i) {
    const SnapshotCpuTime& before = run.cpu_time[i - 1];
    const SnapshotCpuTime& now = run.cpu_time[i];
    json["intervals"].push_back({{"end_ns", now.at_ns - begin},
                                 {"user_ns", now.user_ns - before.user_ns},
                                 {"system_ns", now.system_ns - before.system_ns},
                                 {"child_user_ns", now.child_user_ns - before.child_user_ns},
                                 {"child_system_ns", now.child_system_ns - before.child_system_ns}});
  }
  return json;
}

}  // namespace zerotax::snapshot
