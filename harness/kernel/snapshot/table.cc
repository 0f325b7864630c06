#include "snapshot/table.h"

#include <fmt/format.h>

#include <cmath>

#include "base/lines.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"

namespace zerotax::snapshot {
namespace {

/// An empty table of results, whose headings have two lines.
Table results_table() {
  Table table({{"", Unit::kText, 16},
               {"writers", Unit::kNs, 7},
               right_text("", 5),
               {"kernel", Unit::kNs, 7},
               {"stopped", Unit::kNs, 7},
               {"complete", Unit::kNs, 8, "-"},
               right_text("memory", 9),
               right_text("pages", 6),
               right_text("pages", 6)});
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

/// A table of the writers' and the helper's work after the child's end, for the results with a child. The table is
/// empty if no remedy is among the results.
std::string after_table(const Snapshot& snapshot) {
  Table table({{"", Unit::kText, 16},
               right_text("reuse", 8),
               right_text("faults", 8),
               {"kernel CPU", Unit::kNs, 12},
               {"CPU time", Unit::kNs, 12, "-"},
               right_text("saved by", 10, 1, "-")});
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

/// The slots are the number of passes, writers and checkpointers, and the size of a batch.
constexpr const char* kUsual =
    "is written {} by {}; halfway through the first time a snapshot is taken, and copied by {} in batches of {}.";
constexpr const char* kPublished =
    "is written {} by {}, started after the fork; the child copies it by {} in batches of {}.";

std::string work_words(const char* words, const Threads& of, std::uint64_t batch_bytes) {
  return fmt::format(fmt::runtime(words), format_counted(of.passes, "time"), format_counted(of.writers, "thread"),
                     format_counted(of.checkpointers, "thread"), format_size(batch_bytes));
}

/// Describes the runs of the usual alternatives, of the published alternatives, or of all alternatives.
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

/// An empty table of rows, whose headings have two lines.
Table rows_table() {
  Table table({{"", Unit::kText, 16},
               {"", Unit::kBytes, 8},
               {"", Unit::kBytes, 7},
               right_text("wri-", 4),
               right_text("co-", 3),
               {"writers", Unit::kNs, 8, "-"},
               {"copied", Unit::kNs, 8, "-"},
               right_text("copied", 7, 1, "-"),
               right_text("is it", 11)});
  table.add({"alternative", "array", "batch", "ters", "py", "need", "after", "first", "copying?"});
  return table;
}

Cell copying_cell(const SweptRow& row) {
  if (!row.ok()) return word(row.status);
  const Measured<IsItCopying>& copying = row.verdict->is_it_copying;
  if (!copying) return Cell::not_available();
  return *copying == IsItCopying::kNo ? "no" : *copying == IsItCopying::kUntilEnd ? "till end" : "after it";
}

void add_swept_row(Table& table, const SweptRow& row) {
  const Measured<std::uint64_t>& first = row.copy_done_first_runs;
  table.add({row.alternative, row.array_bytes, row.batch_bytes, std::to_string(row.writers),
             std::to_string(row.checkpointers), median(row.writers_wall_ns), median(row.copy_ns),
             first ? Cell(fmt::format("{}/{}", *first, row.runs)) : Cell::not_available(), copying_cell(row)});
}

}  // namespace

std::string failure_text(const Result& result) {
  return fmt::format("{} under {}: {}: {}", result.alternative, result.allocator, word(result.status),
                     result.reason.value_or(""));
}

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
      reasons += wrap(failure_text(result), "", "  ");
    }
    text += fmt::format("\n{}\n{}", allocator, table.text());
  }
  return text + after_table(snapshot) + (reasons.empty() ? "" : "\n" + reasons);
}

std::string sweep_sentence(const Sweep& sweep) {
  return sweep.sentence ? *sweep.sentence : fmt::format("The sweep has no verdict: {}.", sweep.sentence.why());
}

Table swept_rows(const std::vector<const SweptRow*>& rows) {
  Table table = rows_table();
  std::string placement = "default";
  for (const SweptRow* row : rows) {
    // The placement changes too rarely to have a column.
    if (row->placement != placement) {
      placement = row->placement;
      table.note(fmt::format("array and copy on NUMA nodes: {}", placement));
    }
    add_swept_row(table, *row);
  }
  return table;
}

std::string sweep_table(const Sweep& sweep) {
  std::vector<const SweptRow*> rows;
  std::string reasons;
  for (const SweptRow& row : sweep.rows) {
    rows.push_back(&row);
    if (!row.reason) continue;
    reasons += wrap(fmt::format("{}: {}: {}", sweep_title(row), word(row.status), *row.reason), "", "  ");
  }
  return wrap(sweep_sentence(sweep)) + "\n" + swept_rows(rows).text() + (reasons.empty() ? "" : "\n" + reasons) + "\n" +
         wrap(kCopiedFirst);
}

}  // namespace zerotax::snapshot
