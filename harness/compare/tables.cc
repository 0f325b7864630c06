#include <fmt/format.h>

#include <cmath>

#include "base/csv.h"
#include "base/units.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

/// Text for a cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

}  // namespace

std::string compare_markdown(const CompareReport& report) {
  std::string text = fmt::format("**OLD** {}, **NEW** {}: {}\n\n", side_label(report.before), side_label(report.after),
                                 count_text(report.verdicts));
  text += "| point | OLD | NEW | NEW / OLD | corrected interval | verdict | why |\n|:--|--:|--:|--:|:-:|:--|:--|\n";
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const CompareVerdict& verdict = report.verdicts[i];
    const auto before = side_ns(report.points[i], false);
    const auto after = side_ns(report.points[i], true);
    const bool known = verdict.time.kind != TimeVerdict::Kind::kUnknown;
    const bool bounded = known && std::isfinite(verdict.time.interval.low);
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} |\n", cell(point_label(report, i)), before ? format_ns(*before) : "n/a",
        after ? format_ns(*after) : "n/a", known ? ratio_text(verdict.time.log_ratio) : "n/a",
        bounded ? ratio_text(verdict.time.interval.low) + " to " + ratio_text(verdict.time.interval.high) : "n/a",
        compare_word(verdict.kind), cell(verdict.reason));
  }
  return text + "\n" + false_alarm_text(report) + "\n";
}

std::string compare_csv(const CompareReport& report) {
  std::string text =
      "allocator_old,allocator_new,case,size_bytes,touch,thread,verdict,old_ns,new_ns,ratio,low,high,adjusted_p";
  for (const char* name : kWorkFigures) text += fmt::format(",{0}_old,{0}_new", name);
  text += ",reason\n";
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const ComparedPoint& point = report.points[i];
    const CompareVerdict& verdict = report.verdicts[i];
    const auto before = side_ns(point, false);
    const auto after = side_ns(point, true);
    text += fmt::format("{},{},{},{},{:g},{},{},{},{}", csv_field(point.before.allocator),
                        csv_field(point.after.allocator), point.case_name, point.size_bytes, point.touch, point.thread,
                        compare_word(verdict.kind), before ? number(*before) : "", after ? number(*after) : "");
    const TimeVerdict& time = verdict.time;
    text += time.kind == TimeVerdict::Kind::kUnknown
                ? ",,,,"
                : fmt::format(",{},{},{},{}", number(std::exp(time.log_ratio)), number(std::exp(time.interval.low)),
                              number(std::exp(time.interval.high)), number(time.adjusted_p));
    for (std::size_t k = 0; k < std::size(kWorkFigures); ++k) {
      const bool known = k < verdict.work.size();
      const auto shown = [](const Json& figure) { return figure.is_number() ? figure.dump() : std::string(); };
      text +=
          fmt::format(",{},{}", known ? shown(verdict.work[k].before) : "", known ? shown(verdict.work[k].after) : "");
    }
    text += "," + csv_field(verdict.reason) + "\n";
  }
  return text;
}

}  // namespace zerotax::compare
