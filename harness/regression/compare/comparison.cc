#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/lines.h"
#include "base/plots.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/table.h"
#include "base/units.h"

namespace zerotax::compare {
namespace {

constexpr const char* kMargin = "    ";
constexpr std::size_t kLabelColumns = 20;
/// Number of points above which a shared reason is printed only once, below the table.
constexpr std::size_t kFewPoints = 2;

std::string header_text(const CompareReport& report) {
  std::string text =
      wrap("OLD  " + side_label(report.before), "", "     ") + wrap("NEW  " + side_label(report.after), "", "     ");
  const char* cost = report.cost == Cost::kCalloc ? "calloc" : "calloc + touch + free";
  if (report.measured) {
    return text +
           wrap(fmt::format("{}, {} pairs of processes at each point, interleaved", cost, report.pairs), "", "  ");
  }
  return text +
         wrap(fmt::format("{} in runs that were made separately: no paired measurement. Counts are judged exactly; "
                          "a time of one process each proves nothing, so it decides nothing. To judge times, compare "
                          "the allocators themselves.",
                          cost),
              "", "  ");
}

/// Returns the reasons that more than kFewPoints points share, each with its number of points.
std::map<std::string, std::size_t> shared_reasons(const std::vector<CompareVerdict>& verdicts) {
  std::map<std::string, std::size_t> counts;
  for (const CompareVerdict& verdict : verdicts) {
    if (verdict.kind == CompareKind::kInvalid || verdict.kind == CompareKind::kAmbiguous) ++counts[verdict.reason];
  }
  std::erase_if(counts, [](const auto& each) { return each.second <= kFewPoints; });
  return counts;
}

void add_row(Table& table, const CompareReport& report, std::size_t i, const std::map<std::string, std::size_t>& shared,
             const Palette& palette) {
  const ComparedPoint& point = report.points[i];
  const CompareVerdict& verdict = report.verdicts[i];
  const auto before = side_ns(point, false);
  const auto after = side_ns(point, true);
  const std::string ratio = verdict.time.kind != TimeVerdict::Kind::kUnknown ? ratio_text(verdict.time.log_ratio)
                            : before && after && *before > 0                 ? ratio_text(std::log(*after / *before))
                                                                             : "n/a";
  std::string label = printable(point_label(report, i));
  std::string number = std::to_string(i + 1);
  // A label that does not fit its column gets a line of its own.
  if (label.size() > kLabelColumns) {
    table.note(fmt::format("{:>2}  {}", number, label));
    label = number = "";
  }
  table.add({number, label, before ? Cell(*before) : Cell::not_available(),
             after ? Cell(*after) : Cell::not_available(), ratio, interval_text(verdict.time),
             Cell::colored(verdict_word(verdict.kind, palette))});
  // If no metric differs, the verdict alone is shown.
  const bool same_work =
      std::all_of(verdict.work.begin(), verdict.work.end(), [](const auto& each) { return each.direction == 0; });
  const bool plain = same_work && (verdict.kind == CompareKind::kSame || verdict.kind == CompareKind::kFaster ||
                                   verdict.kind == CompareKind::kSlower);
  if (plain || shared.count(verdict.reason) != 0) return;
  const std::string reason = wrap(verdict.reason, kMargin, kMargin);
  table.note(reason.substr(0, reason.size() - 1));
}

std::string figure_text(const Measured<std::int64_t>& figure) {
  return figure ? format_count(static_cast<std::uint64_t>(*figure)) : "n/a (" + figure.why() + ")";
}

std::string work_text(const CompareVerdict& verdict) {
  std::string text = "work of an operation, in every process\n";
  for (const WorkChange& change : verdict.work) {
    const char* meaning = change.direction == 0  ? "no difference is proven"
                          : !change.decides      ? "the difference is too small for a verdict"
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
    text += fmt::format("{}'s calls are not alike; their mean is compared\n", name);
    for (const std::string& line : side->modes) text += "  " + printable(line) + "\n";
  }
  return text;
}

std::string pairs_text(const ComparedPoint& point) {
  Table table(
      {{"OLD", Unit::kNs, 12}, {"NEW", Unit::kNs, 10}, right_text("ratio", 8), {"first", Unit::kText, 0, "", {}, 2}});
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
    return "time: no pairs, so nothing is proven\n";
  }
  std::string text = "time\n";
  const auto add = [&](const std::string& line) { text += wrap(line, "  ", "    "); };
  add(fmt::format("ratio NEW / OLD: {} (Hodges-Lehmann)", ratio_text(time.log_ratio)));
  add(
      fmt::format("chance of pairs as one-sided as these if OLD equals NEW: {:.2g} (Wilcoxon, exact), or {:.2g} when "
                  "corrected for all points (Holm)",
                  time.p, time.adjusted_p));
  add(fmt::format("corrected interval ({:.4g} %): {}", 100 * time.level, bounds(time.interval)));
  add(fmt::format("interval of this point alone (95 %): {}", bounds(time.interval95)));
  add(fmt::format("noise band: {} to {}; SAME needs the 95 % interval within {:g} %", ratio_text(-time.band),
                  ratio_text(time.band), 100 * report.method.same));
  switch (time.kind) {
    case TimeVerdict::Kind::kFaster:
    case TimeVerdict::Kind::kSlower:
      add("the corrected interval excludes 1, and the ratio is beyond the noise band: times differ");
      break;
    case TimeVerdict::Kind::kSame:
      add("no difference beyond the noise band is proven, and a larger difference is excluded: times are the same");
      break;
    default:
      add("neither a difference nor its absence is proven; more --rounds may decide");
  }
  return text;
}

/// Returns the plotted interval of a point. Without pairs there is no interval, and the ratio proves nothing.
PlotInterval plot_row(const CompareReport& report, std::size_t i) {
  const TimeVerdict& time = report.verdicts[i].time;
  PlotInterval row{fmt::format("{:>3}  {}", i + 1, point_label(report, i)), {}, {}, {}, word(report.verdicts[i].kind)};
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

std::string interval_text(const TimeVerdict& time) {
  if (time.kind == TimeVerdict::Kind::kUnknown) return "";
  if (!std::isfinite(time.interval.low)) return "too few pairs";
  return fmt::format("{} to {}", ratio_text(time.interval.low), ratio_text(time.interval.high));
}

std::string verdict_word(CompareKind kind, const Palette& palette) {
  if (kind == CompareKind::kSame) return word(kind);
  return palette(kind == CompareKind::kFaster   ? Tone::kBetter
                 : kind == CompareKind::kSlower ? Tone::kWorse
                                                : Tone::kDoubtful,
                 word(kind));
}

std::string side_label(const ComparedThing& side) {
  if (!side.allocator) return side.file;
  const Allocator& allocator = *side.allocator;
  std::string text = allocator.name;
  if (!allocator.version.empty()) text += " " + allocator.version.substr(0, 12);
  if (allocator.preload) text += " (" + *allocator.preload + ")";
  for (const auto& [key, value] : allocator.env) text += fmt::format(" {}={}", key, value);
  return text;
}

std::string point_label(const CompareReport& report, std::size_t i) {
  const auto differ = [&](const auto& of) {
    return std::any_of(report.points.begin(), report.points.end(),
                       [&](const ComparedPoint& each) { return of(each) != of(report.points.front()); });
  };
  const ComparedPoint& point = report.points[i];
  std::string label = fmt::format("{} touch {:g}", format_size(point.size_bytes), point.touch);
  if (point.thread == "worker") label += " worker";
  const auto case_of = [](const ComparedPoint& each) -> const std::string& { return each.case_name; };
  if (point.case_name != "calloc_loop" || differ(case_of)) label = point.case_name + " " + label;
  // For allocators that were measured now, the names are in the header.
  const auto allocator_of = [](const ComparedPoint& each) -> const std::string& { return each.before.allocator; };
  return !report.measured && differ(allocator_of) ? point.before.allocator + " " + label : label;
}

std::string count_text(const std::vector<CompareVerdict>& verdicts) {
  std::string text;
  for (const CompareKind kind : {CompareKind::kSlower, CompareKind::kFaster, CompareKind::kSame,
                                 CompareKind::kAmbiguous, CompareKind::kInvalid}) {
    const auto count =
        std::count_if(verdicts.begin(), verdicts.end(), [&](const auto& each) { return each.kind == kind; });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word(kind));
  }
  return text.empty() ? "no points" : text;
}

std::string false_alarm_text(const CompareReport& report) {
  std::string text;
  if (report.shuffled_rate) {
    text = fmt::format(
        "False alarms: with OLD and NEW exchanged at random within the pairs, {:.2g} % of {} comparisons have "
        "one (at most {:g} % by construction).",
        100 * *report.shuffled_rate, format_count(report.shuffles), 100 * report.method.alpha);
  } else {
    text = "False alarms: not measured, because there are no pairs.";
  }
  return text;
}

double median_ns(const std::vector<CostPair>& pairs, double CostPair::*side) {
  std::vector<double> values;
  values.reserve(pairs.size());
  for (const CostPair& pair : pairs) values.push_back(pair.*side);
  return values.empty() ? 0 : median(values);
}

std::optional<double> side_ns(const ComparedPoint& point, bool after) {
  if (point.pairs.empty()) return after ? point.after.ns : point.before.ns;
  return median_ns(point.pairs, after ? &CostPair::b_ns : &CostPair::a_ns);
}

std::string ratio_text(double log_ratio) { return format_number(std::exp(log_ratio)); }

std::string compare_text(const CompareReport& report, const Palette& palette) {
  std::string text = header_text(report);
  Table table({right_text("#", 2),
               {"point", Unit::kText, kLabelColumns, "", {}, 2},
               {"OLD", Unit::kNs, 8},
               {"NEW", Unit::kNs, 8},
               right_text("ratio", 6),
               {"interval", Unit::kText, 16},
               {"verdict"}});
  const std::map<std::string, std::size_t> shared = shared_reasons(report.verdicts);
  for (std::size_t i = 0; i < report.points.size(); ++i) add_row(table, report, i, shared, palette);
  text += "\n" + table.text() + "\n" + wrap(count_text(report.verdicts), "", "");
  for (const auto& [reason, points] : shared) {
    const auto kind =
        std::find_if(report.verdicts.begin(), report.verdicts.end(), [&, &why = reason](const auto& each) {
          return each.reason == why;
        })->kind;
    text += wrap(fmt::format("{} {}: {}", points, word(kind), reason), "", "  ");
  }
  if (report.measured) {
    text += wrap(fmt::format("ratio = time of NEW / OLD; the interval is corrected for {} (Holm), {:g} % false alarms "
                             "in all",
                             format_counted(report.points.size(), "point"), 100 * report.method.alpha),
                 "", "");
  }
  return text + wrap(false_alarm_text(report), "", "");
}

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
  return text + wrap(fmt::format("verdict: {}: {}", word(verdict.kind), verdict.reason), "", "  ");
}

std::string compare_plot(const CompareReport& report, const PlotStyle& style) {
  std::vector<PlotInterval> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i) rows.push_back(plot_row(report, i));
  return interval_plot(
      report.measured ? "Ratio of each point, and its interval" : "Ratio of each point, of one process each",
      "time of NEW / OLD: less than 1 is faster", rows, style);
}

}  // namespace zerotax::compare
