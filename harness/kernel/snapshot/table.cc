#include "snapshot/table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::snapshot {
namespace {

constexpr auto kRight = Column::Side::kRight;

/// With a second line of headings.
Table results_table() {
  Table table({{"", Unit::kText, 16},
               {"writers", Unit::kNs, 7},
               {"", Unit::kText, 5, "n/a", {}, 1, kRight},
               {"kernel", Unit::kNs, 7},
               {"stopped", Unit::kNs, 7},
               {"complete", Unit::kNs, 8, "-"},
               {"memory", Unit::kText, 9, "n/a", {}, 1, kRight},
               {"pages", Unit::kText, 6, "n/a", {}, 1, kRight},
               {"pages", Unit::kText, 6, "n/a", {}, 1, kRight}});
  table.add({"alternative", "need", "times", "CPU", "for", "after", "at most", "copied", "reused"});
  return table;
}

Cell median(const Measured<Quantiles>& measured) { return measured ? Cell(measured->median) : Cell::not_available(); }

Cell faults(const Measured<Faults>& found, std::uint64_t Counts::*kind) {
  if (!found) return Cell::not_available();
  return std::to_string(found->before_end.*kind + found->after_end.*kind);
}

void add_row(Table& table, const Result& result) {
  table.add({result.alternative, median(result.writers_wall_ns),
             result.slowdown ? Cell(fmt::format("{:.2f}", *result.slowdown)) : Cell::not_available(),
             median(result.writers_system_ns), median(result.stopped_ns), median(result.snapshot_ns),
             result.memory ? Cell("+" + format_size(result.memory->added_bytes())) : Cell::not_available(),
             faults(result.faults, &Counts::copies), faults(result.faults, &Counts::reuses)});
}

std::string signed_time(double ns) { return (ns < 0 ? "-" : "") + format_ns(std::abs(ns)); }

/// What the writers and the helper do once the child has ended: of those with a child, if there is a remedy among them.
std::string after_table(const Snapshot& snapshot) {
  Table table({{"", Unit::kText, 16},
               {"reuse", Unit::kText, 8, "n/a", {}, 1, kRight},
               {"faults", Unit::kText, 8, "n/a", {}, 1, kRight},
               {"kernel CPU", Unit::kNs, 12},
               {"CPU time", Unit::kNs, 12, "-"},
               {"saved by", Unit::kText, 10, "-", {}, 1, kRight}});
  table.add({"alternative", "faults", "counted", "of writers", "of helper", "the remedy"});
  bool remedy = false;
  for (const Result& result : snapshot.results) {
    if (result.allocator != snapshot.results.front().allocator || !result.ok() || !result.after_end) continue;
    const AfterEnd& after = *result.after_end;
    remedy = remedy || result.remedy;
    table.add(
        {result.alternative,
         result.faults_held ? Cell(std::to_string(result.faults_held->after_end.reuses)) : Cell::not_available(),
         fmt::format("{:.0f}", after.writers_faults.median), after.writers_system_ns.median,
         after.helper ? Cell(after.helper->user_ns.median + after.helper->system_ns.median) : Cell::not_available(),
         result.remedy ? Cell(signed_time(result.remedy->saved_ns)) : Cell::not_available()});
  }
  if (!remedy) return "";
  return fmt::format("\nAll writes after the child's end{}:\n",
                     snapshot.advice.size() > 1 ? fmt::format(" ({})", snapshot.allocators().front()) : "") +
         table.text();
}

std::string allocator_of(const Result& result) {
  std::string text = result.allocator;
  if (result.version) text += " " + *result.version;
  for (const auto& [key, value] : result.env) text += fmt::format(" {}={}", key, value);
  return text;
}

/// Slots: times written, writers, checkpointers, batch.
constexpr const char* kUsual =
    "is written {} by {}; halfway through the first time a snapshot is taken, and copied by {} in batches of {}.";
constexpr const char* kPublished =
    "is written {} by {}, started after the fork; the child copies it by {} in batches of {}.";

std::string work_words(const char* words, const Threads& of, std::uint64_t batch_bytes) {
  return fmt::format(fmt::runtime(words), format_counted(of.passes, "time"), format_counted(of.writers, "thread"),
                     format_counted(of.checkpointers, "thread"), format_size(batch_bytes));
}

/// What is run: of the usual alternatives, of the published ones, or of both.
std::string head(const Snapshot& snapshot) {
  const Parameters& parameters = snapshot.parameters;
  bool usual = false;
  const Result* published = nullptr;
  for (const Result& result : snapshot.results) {
    usual = usual || !result.published();
    if (result.published()) published = &result;
  }
  std::string text = fmt::format("An array of {} ", format_size(parameters.array_bytes));
  if (usual || published == nullptr) {
    text += work_words(kUsual, parameters, parameters.batch_bytes);
  }
  if (published != nullptr) {
    if (usual) text += " In the published program, it ";
    text += work_words(kPublished, published->parameters.value_or(parameters), parameters.batch_bytes);
  }
  return wrap(fmt::format("{} Medians of {}.", text, format_counted(parameters.repeat, "run")), "", "");
}

/// With a second line of headings.
Table rows_table() {
  Table table({{"", Unit::kText, 16},
               {"", Unit::kBytes, 8},
               {"", Unit::kBytes, 7},
               {"wri-", Unit::kText, 4, "n/a", {}, 1, kRight},
               {"co-", Unit::kText, 3, "n/a", {}, 1, kRight},
               {"writers", Unit::kNs, 8, "-"},
               {"copied", Unit::kNs, 8, "-"},
               {"copied", Unit::kText, 7, "-", {}, 1, kRight},
               {"is it", Unit::kText, 11, "n/a", {}, 1, kRight}});
  table.add({"alternative", "array", "batch", "ters", "py", "need", "after", "first", "copying?"});
  return table;
}

Cell copying_cell(const SweptRow& row) {
  if (!row.ok()) return status_name(row.status);
  const Measured<IsItCopying>& copying = row.verdict->is_it_copying;
  if (!copying) return Cell::not_available();
  return *copying == IsItCopying::kNo ? "no" : *copying == IsItCopying::kUntilEnd ? "till end" : "after it";
}

void add_swept_row(Table& table, const SweptRow& row) {
  const Measured<std::uint64_t>& first = row.copy_done_first_runs;
  table.add({row.alternative, row.at.array_bytes, row.at.batch_bytes, std::to_string(row.at.writers),
             std::to_string(row.at.checkpointers), median(row.writers_wall_ns), median(row.snapshot_ns),
             first ? Cell(fmt::format("{}/{}", *first, row.runs)) : Cell::not_available(), copying_cell(row)});
}

}  // namespace

std::string snapshot_table(const Snapshot& snapshot) {
  std::string text = head(snapshot);
  std::string reasons;
  for (std::size_t i = 0; i < snapshot.results.size();) {
    const std::string allocator = allocator_of(snapshot.results[i]);
    Table table = results_table();
    for (; i < snapshot.results.size() && allocator_of(snapshot.results[i]) == allocator; ++i) {
      const Result& result = snapshot.results[i];
      add_row(table, result);
      if (result.ok()) continue;
      reasons += wrap(fmt::format("{} under {}: {}: {}", result.alternative, result.allocator,
                                  status_name(result.status), result.reason.value_or("")),
                      "", "  ");
    }
    text += fmt::format("\n{}\n{}", allocator, table.text());
  }
  return text + after_table(snapshot) + (reasons.empty() ? "" : "\n" + reasons);
}

std::string sweep_table(const Sweep& sweep) {
  Table table = rows_table();
  std::string reasons;
  std::string placement = "default";
  for (const SweptRow& row : sweep.rows) {
    // Too seldom to have a column.
    if (row.at.placement != placement) {
      placement = row.at.placement;
      table.note(fmt::format("array and copy on NUMA nodes: {}", placement));
    }
    add_swept_row(table, row);
    if (!row.reason) continue;
    reasons += wrap(fmt::format("{}: {}: {}", sweep_title(row), status_name(row.status), *row.reason), "", "  ");
  }
  return table.text() + (reasons.empty() ? "" : "\n" + reasons) + "\n" +
         wrap(sweep.sentence ? *sweep.sentence : sweep.sentence.why(), "", "") +
         wrap("copied first: runs in which the copy was done before the writers were, of all.", "", "");
}

}  // namespace zerotax::snapshot
