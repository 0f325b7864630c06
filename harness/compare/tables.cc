#include <fmt/format.h>

#include <cmath>

#include "base/table.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

/// Six digits; blank for what is not known.
Cell number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Cell(fmt::format("{:.6g}", *value)) : Cell();
}

Cell whole(const Measured<std::int64_t>& figure) { return figure ? Cell(std::to_string(*figure)) : Cell(); }

}  // namespace

std::string compare_csv(const CompareReport& report) {
  std::vector<Column> columns;
  for (const char* name : {"allocator_old", "allocator_new", "case", "size_bytes", "touch", "thread", "verdict",
                           "old_ns", "new_ns", "ratio", "low", "high", "adjusted_p"}) {
    columns.push_back({name});
  }
  for (const WorkFigure& figure : kWorkFigures) {
    for (const char* side : {"_old", "_new"}) columns.push_back({figure.name + std::string(side)});
  }
  columns.push_back({"reason"});
  Table table(columns);
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const ComparedPoint& point = report.points[i];
    const CompareVerdict& verdict = report.verdicts[i];
    std::vector<Cell> cells{point.before.allocator,
                            point.after.allocator,
                            point.case_name,
                            std::to_string(point.size_bytes),
                            fmt::format("{:g}", point.touch),
                            point.thread,
                            compare_word(verdict.kind),
                            number(side_ns(point, false)),
                            number(side_ns(point, true))};
    const TimeVerdict& time = verdict.time;
    const bool known = time.kind != TimeVerdict::Kind::kUnknown;
    for (const double log_ratio : {time.log_ratio, time.interval.low, time.interval.high}) {
      cells.push_back(known ? number(std::exp(log_ratio)) : Cell());
    }
    cells.push_back(known ? number(time.adjusted_p) : Cell());
    for (const WorkChange& change : verdict.work) {
      cells.insert(cells.end(), {whole(change.before), whole(change.after)});
    }
    cells.resize(columns.size() - 1);
    cells.emplace_back(verdict.reason);
    table.add(cells);
  }
  return table.csv();
}

}  // namespace zerotax::compare
