#include <algorithm>

#include "snapshot/result.h"

namespace zerotax::snapshot {

Measured<CpuTime> cpu_time_of(const SnapshotRun& run) {
  if (run.cpu_time.size() < 2) return NotAvailable{"the run was shorter than the time between two samples"};
  const std::int64_t begin = run.cpu_time.front().end_ns;
  // Beginning and end of the writers, the snapshot, the child's end: in the time of the samples.
  const auto since = [&](const char* figure) { return std::max<std::int64_t>(run.figure(figure) - begin, 0); };
  CpuTime found{since("begin_ns"), since("end_ns"), since("stopped_ns"), NotAvailable{"it has no child"}, {}};
  if (run.figure("child") != 0) found.child_end_ns = since("gone_ns");
  for (std::size_t i = 1; i < run.cpu_time.size(); ++i) {
    const CpuInterval& before = run.cpu_time[i - 1];
    const CpuInterval& now = run.cpu_time[i];
    found.intervals.push_back({now.end_ns - begin, now.user_ns - before.user_ns, now.system_ns - before.system_ns,
                               now.child_user_ns - before.child_user_ns, now.child_system_ns - before.child_system_ns});
  }
  return found;
}

}  // namespace zerotax::snapshot
