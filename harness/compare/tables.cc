#include <fmt/format.h>

#include <cmath>

#include "base/csv.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

}  // namespace

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
