#include <fmt/format.h>

#include <cmath>

#include "base/interval_plot.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

/// Without pairs there is a ratio, which proves nothing, and no interval.
PlotInterval plot_row(const CompareReport& report, std::size_t i) {
  const TimeVerdict& time = report.verdicts[i].time;
  PlotInterval row{
      fmt::format("{:>3}  {}", i + 1, point_label(report, i)), {}, {}, {}, compare_word(report.verdicts[i].kind)};
  if (time.kind != TimeVerdict::Kind::kUnknown) {
    row.ratio = std::exp(time.log_ratio);
    if (std::isfinite(time.interval.low) && std::isfinite(time.interval.high)) {
      row.low = std::exp(time.interval.low);
      row.high = std::exp(time.interval.high);
    }
    return row;
  }
  const auto before = side_ns(report.points[i], false);
  const auto after = side_ns(report.points[i], true);
  if (before && after && *before > 0 && *after > 0) row.ratio = *after / *before;
  return row;
}

}  // namespace

std::string compare_plot(const CompareReport& report, const PlotStyle& style) {
  std::vector<PlotInterval> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i) rows.push_back(plot_row(report, i));
  return interval_plot(
      report.measured ? "Ratio of each point, and its interval" : "Ratio of each point, of one process each",
      "time of NEW / OLD: less than 1 is faster", rows, style);
}

}  // namespace zerotax::compare
