#include <fmt/format.h>

#include "base/table.h"
#include "base/wrap.h"
#include "snapshot/cpu_time.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

constexpr auto kRightSide = Column::Side::kRight;

/// With a second line of headings.
Table rows_table() {
  Table table({{"", Unit::kText, 16},
               {"", Unit::kBytes, 8},
               {"", Unit::kBytes, 7},
               {"wri-", Unit::kText, 4, "n/a", {}, 1, kRightSide},
               {"co-", Unit::kText, 3, "n/a", {}, 1, kRightSide},
               {"writers", Unit::kNs, 8, "-"},
               {"copied", Unit::kNs, 8, "-"},
               {"copied", Unit::kText, 7, "-", {}, 1, kRightSide},
               {"is it", Unit::kText, 11, "n/a", {}, 1, kRightSide}});
  table.add({"alternative", "array", "batch", "ters", "py", "need", "after", "first", "copying?"});
  return table;
}

Cell swept_time(const Measured<Quantiles>& measured) {
  return measured ? Cell(measured->median) : Cell::not_available();
}

Cell copying_cell(const SweptRow& row) {
  if (!row.ok()) return status_name(row.status);
  const Measured<IsItCopying>& copying = row.verdict->is_it_copying;
  if (!copying) return Cell::not_available();
  return *copying == IsItCopying::kNo ? "no" : *copying == IsItCopying::kUntilEnd ? "till end" : "after it";
}

void add_swept_row(Table& table, const SweptRow& row) {
  const Measured<std::uint64_t>& first = row.copy_done_first_runs;
  table.add({row.alternative, row.array_bytes, row.batch_bytes, std::to_string(row.writers),
             std::to_string(row.checkpointers), swept_time(row.writers_wall_ns), swept_time(row.copy_ns),
             first ? Cell(fmt::format("{}/{}", *first, row.runs)) : Cell::not_available(), copying_cell(row)});
}

}  // namespace

std::string sweep_table(const Sweep& sweep) {
  Table table = rows_table();
  std::string reasons;
  std::string placement = "default";
  for (const SweptRow& row : sweep.rows) {
    // Too seldom to have a column.
    if (row.placement != placement) {
      placement = row.placement;
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

std::string sweep_plots(const Sweep& sweep, const PlotStyle& style) {
  std::string text;
  for (const SweptRow& row : sweep.rows) {
    const std::string plot = cpu_time_plot(sweep_title(row), row.cpu_time, style);
    if (!plot.empty()) text += "\n" + plot;
  }
  return text;
}

}  // namespace zerotax::snapshot
