#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

std::string figure_text(const Measured<std::int64_t>& figure) {
  return figure ? format_count(static_cast<std::uint64_t>(*figure)) : "n/a (" + figure.why() + ")";
}

std::string work_text(const CompareVerdict& verdict) {
  std::string text = "what an operation does, in every process\n";
  for (const WorkChange& change : verdict.work) {
    const char* meaning = change.direction == 0  ? "no difference proven"
                          : !change.decides      ? "too little to decide anything"
                          : change.direction > 0 ? "more"
                                                 : "less";
    text += wrap(fmt::format("{}: OLD {}, NEW {}: {}", change.name, figure_text(change.before),
                             figure_text(change.after), meaning),
                 "  ", "    ");
  }
  return text;
}

std::string modes_text(const ComparedPoint& point) {
  std::string text;
  for (const auto& [name, side] : {std::pair{"OLD", &point.before}, std::pair{"NEW", &point.after}}) {
    if (side->modes.empty()) continue;
    text += fmt::format("{}'s calls are not alike; what is compared is their mean\n", name);
    for (const std::string& line : side->modes) text += "  " + printable(line) + "\n";
  }
  return text;
}

std::string pairs_text(const ComparedPoint& point) {
  Table table({{"OLD", Unit::kNs, 12},
               {"NEW", Unit::kNs, 10},
               {"ratio", Unit::kText, 8, "", {}, 1, Column::Side::kRight},
               {"first", Unit::kText, 0, "", {}, 2}});
  for (const CostPair& pair : point.pairs) {
    table.add({pair.a_ns, pair.b_ns, ratio_text(std::log(pair.b_ns / pair.a_ns)), pair.a_first ? "OLD" : "NEW"});
  }
  return "pairs of processes (median time of an operation)\n" + table.text();
}

std::string bounds(const Interval& interval) {
  if (!std::isfinite(interval.low)) return "none: too few pairs for this level";
  return fmt::format("{} to {}", ratio_text(interval.low), ratio_text(interval.high));
}

std::string time_text(const CompareReport& report, const CompareVerdict& verdict) {
  const TimeVerdict& time = verdict.time;
  if (time.kind == TimeVerdict::Kind::kUnknown) {
    return "time: no pairs, so nothing is proven of it\n";
  }
  std::string text = "time\n";
  const auto add = [&](const std::string& line) { text += wrap(line, "  ", "    "); };
  add(fmt::format("ratio NEW / OLD: {} (Hodges and Lehmann)", ratio_text(time.log_ratio)));
  add(
      fmt::format("chance of pairs as one-sided as these among equals: {:.2g} (Wilcoxon, exact); times the comparisons "
                  "left at its step (Holm): {:.2g}",
                  time.p, time.adjusted_p));
  add(fmt::format("corrected interval ({:.4g} %): {}", 100 * time.level, bounds(time.interval)));
  add(fmt::format("interval of this point alone (95 %): {}", bounds(time.interval95)));
  add(fmt::format("noise band: {} to {}; SAME wants the 95 % interval within {:g} %", ratio_text(-time.band),
                  ratio_text(time.band), 100 * report.method.same));
  switch (time.kind) {
    case TimeVerdict::Kind::kFaster:
    case TimeVerdict::Kind::kSlower:
      add("the corrected interval excludes 1, and the ratio is beyond the noise band: times differ");
      break;
    case TimeVerdict::Kind::kSame:
      add("no difference that is proven and beyond the noise band, and none larger can be there: times are the same");
      break;
    default:
      add("neither a difference nor its absence is proven; more --rounds may tell");
  }
  return text;
}

}  // namespace

std::string explain_text(const CompareReport& report, std::size_t i) {
  const ComparedPoint& point = report.points[i];
  const CompareVerdict& verdict = report.verdicts[i];
  std::string text = fmt::format("point {}: {} ({})\n", i + 1, point_label(report, i), compared_key(point));
  if (verdict.kind == CompareKind::kInvalid) {
    return text + wrap(verdict.reason, "  cannot be compared: ", "    ") + "verdict: INVALID\n";
  }
  text += work_text(verdict) + modes_text(point);
  if (!point.pairs.empty()) text += pairs_text(point);
  text += time_text(report, verdict);
  return text + wrap(fmt::format("verdict: {}: {}", compare_word(verdict.kind), verdict.reason), "", "  ");
}

}  // namespace zerotax::compare
