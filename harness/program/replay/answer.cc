#include "base/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "replay/result.h"
#include "replay/run.h"

namespace zerotax::replay {
namespace {

constexpr std::size_t kLongestName = 22;
constexpr const char* kOneRun = "CPU time is from one run under each allocator.";
constexpr const char* kMore = "Refilled memory, redundant zeros, mapping calls and times";

/// Returns the replays. The replay with the least CPU time comes first; replays without a time come last.
std::vector<const Replayed*> by_cpu(const Workload& workload) {
  std::vector<const Replayed*> rows;
  for (const Replayed& each : workload.replays) rows.push_back(&each);
  const auto key = [](const Replayed* each) { return cpu_ns(*each).value_or(INT64_MAX); };
  std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  return rows;
}

std::string cpu_text(const Replayed& each) { return format_ns(static_cast<double>(*cpu_ns(each))); }

std::string headline_of(const Workload& workload) {
  const std::string subject = workload_name(workload.recording.path);
  std::vector<const Replayed*> rows = by_cpu(workload);
  std::erase_if(rows, [](const Replayed* each) { return !cpu_ns(*each); });
  if (rows.empty()) {
    return fmt::format("{}: no replay under {} ended well.", subject,
                       format_counted(workload.replays.size(), "allocator"));
  }
  std::string text = fmt::format("{} takes {} of CPU time", subject, cpu_text(*rows.front()));
  if (rows.size() == 1) return fmt::format("{} under {}.", text, rows.front()->name);
  text = fmt::format("{} under {}, the least of {}, and {} under {}", text, rows.front()->name,
                     format_counted(workload.replays.size(), "allocator"), cpu_text(*rows.back()), rows.back()->name);
  const auto same = std::find_if(rows.begin(), rows.end(), [](const Replayed* each) { return each->as_recorded; });
  if (same == rows.end() || *same == rows.front() || *same == rows.back()) return text + ".";
  return text + fmt::format("; under {}, as recorded, {}.", (*same)->name, cpu_text(**same));
}

Table counts(const Workload& workload) {
  Table table({{"allocator", Unit::kText, 16},
               {"faults", Unit::kCount, 9},
               {"kernel-zeroed", Unit::kBytes, 13},
               {"returned", Unit::kBytes, 9},
               {"peak", Unit::kBytes, 9},
               {"CPU time", Unit::kNs, 9}});
  const auto add = [&](const std::string& name, const record::CallsCounts& row, const Cell& cpu) {
    table.add({name, row.minor_faults, row.kernel_zeroed_bytes, row.returned_bytes, row.peak_bytes, cpu});
  };
  for (const Replayed* each : by_cpu(workload)) {
    add(first_characters(each->name, kLongestName) + (each->as_recorded ? " *" : ""), each->counts, cpu_ns(*each));
  }
  add("the recorded run", workload.recording.counts, {});
  return table;
}

std::vector<std::string> warnings_of(const Workload& workload, const std::string& before) {
  std::vector<std::string> all;
  for (const Replayed& each : workload.replays) {
    if (!each.counts.minor_faults) all.push_back(fmt::format("{}{}: {}.", before, each.name, why_text(each)));
    const std::uint64_t failed = each.failed_calls.value_or(0);
    if (failed != 0) all.push_back(fmt::format("{}{}: {} failed.", before, each.name, format_counted(failed, "call")));
  }
  return all;
}

/// Returns a row per recording with the zeros written by kernel and allocator. The recording with the most zeros comes
/// first.
Table zeros(const Workloads& all) {
  std::vector<Column> columns{{"zeros written", Unit::kText, 13}};
  for (const Replayed& each : all_replays(all)) columns.push_back({short_name(each), Unit::kBytes, 8});
  Table table(std::move(columns));
  std::vector<std::pair<std::uint64_t, const Workload*>> rows;
  for (const Workload& workload : all.workloads) {
    std::uint64_t most = 0;
    for (const Replayed& each : workload.replays) most = std::max(most, zeros_of(each.counts).value_or(0));
    rows.emplace_back(most, &workload);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [most, workload] : rows) {
    std::vector<Cell> cells{first_characters(workload_name(workload->recording.path), kLongestName)};
    for (const Replayed& each : workload->replays) cells.emplace_back(zeros_of(each.counts));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace

std::string headline(const Replay& replay) { return headline_of(replay); }

std::string headline(const Workloads& all) {
  if (!all.sentence.empty()) return all.sentence;
  return fmt::format(
      "{} repeated under {}.", format_counted(all.workloads.size(), "recording was", "recordings were"),
      all.workloads.empty() ? "no allocator" : format_counted(all.workloads.front().replays.size(), "allocator"));
}

Answer replay_answer(const Replay& replay) {
  Answer answer{.headline = headline(replay), .more = kMore};
  answer.table = counts(replay);
  answer.warnings = warnings_of(replay, "");
  if (predicts_well(replay)) {
    answer.legend = fmt::format("* as recorded. {} {}", kOneRun, replay.prediction);
  } else {
    answer.warnings.push_back(replay.prediction);
    answer.legend = replay.errors ? fmt::format("* as recorded. {}", kOneRun) : kOneRun;
  }
  const std::string& path = replay.recording.path;
  const bool is_plain = path.find('/') == std::string::npos;  // without a /, a shell would search PATH for the name
  answer.steps = {
      {"zerotax advise -- " + shell_word(is_plain ? "./" + path : path), "prove which allocator or setting helps:"}};
  return answer;
}

Answer workloads_answer(const Workloads& all) {
  Answer answer{.headline = headline(all), .more = kMore};
  if (all.workloads.empty()) return answer;
  answer.table = zeros(all);
  for (const Workload& workload : all.workloads) {
    for (std::string& each : warnings_of(workload, workload_name(workload.recording.path) + " under ")) {
      answer.warnings.push_back(std::move(each));
    }
  }
  answer.legend = "Bytes that the kernel and the allocator zeroed.";
  return answer;
}

}  // namespace zerotax::replay
