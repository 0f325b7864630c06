#include "base/table.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/wrap.h"
#include "replay/result.h"

namespace zerotax::replay {
namespace {

Table counts_table(const Replay& replay) {
  Table table({{"", Unit::kText, 16},
               {"faults", Unit::kCount, 10},
               {"by kernel", Unit::kBytes, 10},
               {"refilled", Unit::kBytes, 10},
               {"returned", Unit::kBytes, 10},
               {"peak", Unit::kBytes, 10}});
  const auto add = [&](const std::string& name, const record::CallsCounts& counts) {
    table.add({name, counts.minor_faults, counts.kernel_zeroed_bytes, counts.refilled_bytes, counts.returned_bytes,
               counts.peak_bytes});
  };
  add("recorded", replay.recording.counts);
  for (const Replayed& each : replay.replays) add(each.name, each.counts);
  return table;
}

Table times_table(const Replay& replay) {
  Table table({{"", Unit::kText, 16},
               {"zeroed", Unit::kBytes, 10},
               {"redundant", Unit::kBytes, 10},
               {"mapping calls", Unit::kCount, 13},
               {"CPU time", Unit::kNs, 10},
               {"wall time", Unit::kNs, 10}});
  const record::CallsCounts& recorded = replay.recording.counts;
  table.add({"recorded", recorded.zeroed_bytes, recorded.redundant_zeroed_bytes, recorded.mapping_calls});
  for (const Replayed& each : replay.replays) {
    const Measured<std::int64_t> cpu =
        each.user_ns && each.system_ns ? Measured(*each.user_ns + *each.system_ns) : each.user_ns;
    table.add({each.name, each.counts.zeroed_bytes, each.counts.redundant_zeroed_bytes, each.counts.mapping_calls, cpu,
               each.wall_ns});
  }
  return table;
}

}  // namespace

std::string replay_text(const Replay& replay) {
  const Recording& recording = replay.recording;
  std::string text =
      wrap(fmt::format("{}: {} of {} and {}, {}", recording.path, format_counted(recording.calls, "call"),
                       format_counted(recording.processes, "process", "processes"),
                       format_counted(recording.threads, "thread"), format_size(recording.bytes)),
           "", "  ");
  text += "\n" + counts_table(replay).text() + "\n" + times_table(replay).text() + "\n";
  for (const Replayed& each : replay.replays) {
    if (!each.counts.minor_faults)
      text += wrap(fmt::format("{}: {}", each.name, each.counts.minor_faults.why()), "", "  ");
    const std::uint64_t failed = each.failed_calls.value_or(0);
    if (failed != 0) text += wrap(fmt::format("{}: {} failed.", each.name, format_counted(failed, "call")), "", "  ");
  }
  return text + wrap(replay.prediction, "", "");
}

}  // namespace zerotax::replay
