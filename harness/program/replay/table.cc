#include "base/table.h"

#include <fmt/format.h>

#include <tuple>

#include "base/lines.h"
#include "base/units.h"
#include "replay/result.h"
#include "replay/run.h"

namespace zerotax::replay {

Measured<std::int64_t> cpu_ns(const Replayed& each) {
  return each.user_ns && each.system_ns ? Measured(*each.user_ns + *each.system_ns) : each.user_ns;
}

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
    table.add({each.name, each.counts.zeroed_bytes, each.counts.redundant_zeroed_bytes, each.counts.mapping_calls,
               cpu_ns(each), each.wall_ns});
  }
  return table;
}

using Value = Cell (*)(const Replayed& replay);

/// Returns a table with a row for each workload and a column for each allocator.
std::string matrix(const Workloads& all, const char* heading, Unit unit, Value value) {
  std::vector<Column> columns{{"", Unit::kText, 10}};
  for (const Replayed& replay : all_replays(all)) columns.push_back({short_name(replay), unit, 8});
  Table table(std::move(columns));
  for (const Workload& workload : all.workloads) {
    std::vector<Cell> cells{workload_name(workload.recording.path)};
    for (const Replayed& replay : workload.replays) cells.push_back(value(replay));
    table.add(std::move(cells));
  }
  return fmt::format("{}\n{}\n", heading, table.text());
}

std::string zeros_matrix(const Workloads& all) {
  return matrix(all, "Real programs, replayed: zeros that kernel and allocator wrote", Unit::kBytes,
                [](const Replayed& replay) { return Cell(zeros_of(replay.counts)); });
}

}  // namespace

std::string why_text(const Replayed& replay) {
  if (!replay.at_least || !replay.at_most) return replay.counts.minor_faults.why();
  using C = record::CallsCounts;
  std::string text;
  for (const auto& [name, count, unit] : {std::tuple{"faults", &C::minor_faults, Unit::kCount},
                                          {"by kernel", &C::kernel_zeroed_bytes, Unit::kBytes},
                                          {"refilled", &C::refilled_bytes, Unit::kBytes},
                                          {"peak", &C::peak_bytes, Unit::kBytes}}) {
    const Count& low = (*replay.at_least).*count;
    const Count& high = (*replay.at_most).*count;
    if (!low) continue;
    const auto words = [per = unit](std::uint64_t number) {
      return per == Unit::kCount ? format_count(number) : format_size(number);
    };
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        high ? words(*low) + " to " + words(*high) : "at least " + words(*low));
  }
  return text;
}

std::string zeros_text(const Workloads& all) {
  if (all.workloads.empty()) return "";
  const std::string text = zeros_matrix(all);
  return all.sentence.empty() ? text : text + wrap(all.sentence, "", "");
}

std::string workloads_text(const Workloads& all) {
  if (all.workloads.empty()) return "";
  std::string text = wrap(headline(all)) + "\n" + zeros_matrix(all);
  text += matrix(all, "Part refilled by the kernel, in place of memory that was returned before", Unit::kBytes,
                 [](const Replayed& replay) { return Cell(replay.counts.refilled_bytes); });
  text += matrix(all, "Most memory held", Unit::kBytes,
                 [](const Replayed& replay) { return Cell(replay.counts.peak_bytes); });
  text += matrix(all, "CPU time", Unit::kNs, [](const Replayed& replay) { return Cell(cpu_ns(replay)); });
  for (const Workload& workload : all.workloads) {
    for (const Replayed& replay : workload.replays) {
      if (replay.counts.minor_faults) continue;
      text +=
          wrap(fmt::format("{} under {}: {}", workload_name(workload.recording.path), replay.name, why_text(replay)),
               "", "  ");
    }
  }
  return text;
}

std::string replay_text(const Replay& replay) {
  const Recording& recording = replay.recording;
  std::string text =
      wrap(headline(replay)) + "\n" +
      wrap(fmt::format("{}: {} of {} and {}, {}", recording.path, format_counted(recording.calls, "call"),
                       format_counted(recording.processes, "process", "processes"),
                       format_counted(recording.threads, "thread"), format_size(recording.bytes)),
           "", "  ");
  text += "\n" + counts_table(replay).text() + "\n" + times_table(replay).text() + "\n";
  for (const Replayed& each : replay.replays) {
    if (!each.counts.minor_faults) text += wrap(fmt::format("{}: {}", each.name, why_text(each)), "", "  ");
    const std::uint64_t failed = each.failed_calls.value_or(0);
    if (failed != 0) text += wrap(fmt::format("{}: {} failed.", each.name, format_counted(failed, "call")), "", "  ");
  }
  return text + wrap(replay.prediction, "", "");
}

}  // namespace zerotax::replay
