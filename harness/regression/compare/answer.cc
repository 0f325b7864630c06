#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "baseline/table.h"
#include "compare/along.h"
#include "compare/bench.h"
#include "compare/comparison.h"
#include "compare/programs.h"

namespace zerotax::compare {
namespace {

constexpr std::size_t kLongestLabel = 28;
constexpr std::size_t kLongestWithoutInterval = 42;
constexpr std::size_t kMostCrossings = 2;
constexpr const char* kMadeApart =
    "The runs were made separately: counts are exact, but times decide nothing, because each is from a single process.";

/// Returns a headline such as "A is glibc 2.36, B is jemalloc 5.3.0. crossing at 1.26 MiB (…): below, A is cheaper."
std::string along_headline(const Along& along) {
  std::string text =
      fmt::format("A is {}, B is {}.", side_label({along.setup.a, "", {}}), side_label({along.setup.b, "", {}}));
  if (!along.has_verdict()) return text + " Not measured: fewer than two places are left.";
  const std::size_t crossings = along.found.crossings.size();
  if (crossings == 0) return fmt::format("{} Crossings: {}.", text, none_sentence(along));
  for (std::size_t k = 0; k < std::min(crossings, kMostCrossings); ++k) {
    const Stretch& below = along.found.stretches[k];
    const Stretch& above = along.found.stretches[k + 1];
    text += fmt::format(" The {}: {} is cheaper below, {} above.", crossing_sentence(along, k),
                        along.cheaper(below.sign), along.cheaper(above.sign));
  }
  if (crossings > kMostCrossings) {
    text += fmt::format(" There {} more.",
                        crossings - kMostCrossings == 1 ? "is 1" : fmt::format("are {}", crossings - kMostCrossings));
  }
  return text;
}

/// Returns the number of points with a verdict.
std::size_t count_of(const CompareReport& report, CompareKind kind) {
  return static_cast<std::size_t>(std::count_if(report.verdicts.begin(), report.verdicts.end(),
                                                [&](const CompareVerdict& each) { return each.kind == kind; }));
}

/// Returns the logarithm of NEW's time divided by OLD's, or 0 if a time is unknown.
double log_ratio_of(const CompareReport& report, std::size_t i) {
  if (report.verdicts[i].time.kind != TimeVerdict::Kind::kUnknown) return report.verdicts[i].time.log_ratio;
  const auto before = side_ns(report.points[i], false);
  const auto after = side_ns(report.points[i], true);
  return before && after && *before > 0 && *after > 0 ? std::log(*after / *before) : 0;
}

/// Returns all points, sorted by verdict (SLOWER, FASTER, AMBIGUOUS, INVALID, SAME), and within a verdict by ratio,
/// largest first.
std::vector<std::size_t> by_change(const CompareReport& report) {
  const auto rank = [&](std::size_t i) {
    const auto place = [](CompareKind kind) {
      switch (kind) {
        case CompareKind::kSlower:
          return 0;
        case CompareKind::kFaster:
          return 1;
        case CompareKind::kAmbiguous:
          return 2;
        case CompareKind::kInvalid:
          return 3;
        case CompareKind::kSame:
          break;
      }
      return 4;
    };
    return std::tuple(place(report.verdicts[i].kind), -std::abs(log_ratio_of(report, i)));
  };
  std::vector<std::size_t> order(report.points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return rank(one) < rank(other); });
  return order;
}

/// Makes the table of points in this order. Leaves out SAME points of stored runs, because times of stored runs prove
/// nothing.
Table point_table(const CompareReport& report, const std::vector<std::size_t>& order, const Palette& palette) {
  Table table({{"point"},
               {"OLD", Unit::kNs, 8},
               {"NEW", Unit::kNs, 8},
               right_text("NEW/OLD", 0, 2),
               {"verdict", Unit::kText, 0, "", {}, 2}});
  const std::size_t most = report.measured ? kLongestLabel : kLongestWithoutInterval;
  for (const std::size_t i : order) {
    const CompareKind kind = report.verdicts[i].kind;
    if (kind == CompareKind::kSame && !report.measured) continue;
    const auto before = side_ns(report.points[i], false);
    const auto after = side_ns(report.points[i], true);
    const auto cell = [](const std::optional<double>& ns) { return ns ? Cell(*ns) : Cell::not_available(); };
    std::string ratio = interval_text(report.verdicts[i].time);
    if (ratio.empty() && before && after) ratio = ratio_text(log_ratio_of(report, i));
    table.add({first_characters(point_label(report, i), most), cell(before), cell(after),
               ratio.empty() ? Cell::not_available() : Cell(ratio), Cell::colored(verdict_word(kind, palette))});
  }
  return table;
}

}  // namespace

Answer compare_answer(const CompareReport& report, const std::vector<std::string>& command, const Palette& palette) {
  Answer answer;
  const std::vector<std::size_t> order = by_change(report);
  const std::size_t slower = count_of(report, CompareKind::kSlower);
  const std::size_t faster = count_of(report, CompareKind::kFaster);
  answer.headline = fmt::format("{}: {} of {}. OLD is {}, NEW is {}.", word(compare_kind(report.verdicts)),
                                count_text(report.verdicts), format_counted(report.points.size(), "point"),
                                side_label(report.before), side_label(report.after));
  Table table = point_table(report, order, palette);
  if (!table.empty()) answer.table = table;
  if (slower + faster != 0) {
    const std::size_t worst = order.front();
    answer.where = fmt::format("{}: {}.", point_label(report, worst), report.verdicts[worst].reason);
    std::vector<std::string> explained = command;
    explained.front() = "zerotax";
    explained.insert(explained.end(), {"--explain", std::to_string(worst + 1)});
    answer.steps.push_back({shell_text(explained), "explain this verdict:"});
  }
  if (!report.measured) {
    answer.warnings.emplace_back(kMadeApart);
  }
  for (const CompareKind kind : {CompareKind::kAmbiguous, CompareKind::kInvalid}) {
    const auto first =
        std::find_if(order.begin(), order.end(), [&](std::size_t i) { return report.verdicts[i].kind == kind; });
    if (first == order.end()) continue;
    answer.warnings.push_back(fmt::format("{} {}, such as {}: {}.", count_of(report, kind), word(kind),
                                          point_label(report, *first), report.verdicts[*first].reason));
  }
  if (report.measured) {
    answer.legend = fmt::format("NEW/OLD: interval of the ratio of times, from {} at each point.",
                                format_counted(report.pairs, "pair"));
  }
  answer.more = "All points, intervals and the rate of false alarms";
  return answer;
}

Answer compare_answer(const std::vector<const CompareReport*>& reports) {
  Answer answer;
  Table table({{"NEW"},
               right_text("SLOWER", 0, 2),
               right_text("FASTER", 0, 2),
               right_text("SAME", 0, 2),
               right_text("other", 0, 2),
               {"most", Unit::kText, 0, "", {}, 2}});
  std::vector<CompareVerdict> all;
  const CompareReport* worst = nullptr;
  for (const CompareReport* report : reports) {
    all.insert(all.end(), report->verdicts.begin(), report->verdicts.end());
    const std::size_t slower = count_of(*report, CompareKind::kSlower);
    const std::size_t faster = count_of(*report, CompareKind::kFaster);
    const std::size_t same = count_of(*report, CompareKind::kSame);
    if (slower + faster != 0 && (worst == nullptr || slower > count_of(*worst, CompareKind::kSlower))) worst = report;
    table.add({last_characters(side_label(report->after), kLongestLabel), format_count(slower), format_count(faster),
               format_count(same), format_count(report->points.size() - slower - faster - same),
               slower + faster == 0
                   ? ""
                   : first_characters(point_label(*report, by_change(*report).front()), kLongestLabel)});
  }
  answer.table = table;
  answer.headline = fmt::format("{}: {} in {}. OLD is {}.", word(compare_kind(all)), count_text(all),
                                format_counted(reports.size(), "run"), side_label(reports.front()->before));
  if (worst != nullptr) {
    const std::size_t most = by_change(*worst).front();
    answer.where =
        fmt::format("{} in {}: {}.", point_label(*worst, most), side_label(worst->after), worst->verdicts[most].reason);
  }
  answer.warnings.emplace_back(kMadeApart);
  answer.more = "All points of each run";
  return answer;
}

Answer along_answer(const Along& along) {
  Answer answer{.headline = along_headline(along), .more = "All places, intervals and ratios"};
  Table table({right_text("from", 0, 2),
               right_text("to", 0, 2),
               {"cheaper", Unit::kText, 0, "", {}, 2},
               right_text("A/B at from", 0, 2),
               right_text("A/B at to", 0, 2)});
  for (const Stretch& stretch : along.found.stretches) {
    table.add({format_at(along, stretch.from), format_at(along, stretch.to),
               stretch.clear ? along.cheaper(stretch.sign) : "not clear", ratio_text(stretch.log_ratio_from),
               ratio_text(stretch.log_ratio_to)});
  }
  if (along.has_verdict()) answer.table = table;
  const std::vector<Crossing>& crossings = along.found.crossings;
  const bool is_certain =
      std::all_of(crossings.begin(), crossings.end(), [](const auto& each) { return each.certain; });
  if (!is_certain || !along.found.dips.empty()) {
    answer.steps.push_back({"", "give more --rounds, which may prove what is uncertain."});
  }
  for (const Dip& dip : along.found.dips) answer.warnings.push_back(dip_sentence(along, dip));
  std::size_t left_out = 0;
  const PairedPlace* first = nullptr;
  for (const PairedPlace& place : along.places) {
    if (along.verdict_at(place) != nullptr) continue;
    if (left_out++ == 0) first = &place;
  }
  if (first != nullptr) {
    answer.warnings.push_back(
        fmt::format("{} left out, the first at {}: {}.", format_counted(left_out, "place is", "places are"),
                    format_at(along, along.at(*first)), first->left_out.empty() ? "interrupted" : first->left_out));
  }
  answer.legend = fmt::format("Medians of {} of processes at each place; A is cheaper where A/B is below 1.",
                              format_counted(along.setup.pairs, "pair"));
  return answer;
}

Answer bench_answer(const BenchComparison& comparison) {
  using exchange::OutcomeKind;
  Answer answer{.headline = fmt::format("{}. OLD is {}, NEW is {}.", comparison.sentence, comparison.before.path,
                                        comparison.after.path),
                .warnings = comparison.notes,
                .more = "All benchmarks and counts"};
  std::vector<const ComparedBenchmark*> changed;
  std::size_t skipped = 0;
  for (const ComparedBenchmark& each : comparison.benchmarks) {
    if (each.kind == OutcomeKind::kSkipped) ++skipped;
    if (!each.changes.empty()) changed.push_back(&each);
  }
  const auto rank = [](const ComparedBenchmark* each) {
    const BenchChange& first = each->changes.front();
    return std::tuple(each->kind != OutcomeKind::kWorse, -std::abs(std::log((first.after + 1) / (first.before + 1))));
  };
  std::stable_sort(changed.begin(), changed.end(), [&](auto* one, auto* other) { return rank(one) < rank(other); });
  Table table(
      {{"benchmark"}, {"counts"}, right_text("time NEW/OLD", 0, 2), {"largest change", Unit::kText, 0, "", {}, 2}});
  for (const ComparedBenchmark* each : changed) {
    table.add({first_characters(label_of(*each), kLongestLabel), word(each->kind), ratio_of_medians(*each),
               each->changes.front().line});
  }
  if (!changed.empty()) answer.table = table;
  if (skipped != 0) {
    answer.warnings.insert(
        answer.warnings.begin(),
        fmt::format("{} not compared.", format_counted(skipped, "benchmark run was", "benchmark runs were")));
  }
  if (!changed.empty() && !comparison.after.program.empty()) {
    answer.steps.push_back({"zerotax record -- " + shell_text(comparison.after.program), "find the calls in NEW:"});
  }
  return answer;
}

Answer compare_answer(const ProgramComparison& comparison, const Palette& palette) {
  Answer answer = baseline::counts_answer(comparison.counts, palette);
  answer.headline = fmt::format("{}. OLD is {}, NEW is {}.", comparison.sentence,
                                baseline::command_text(comparison.before), baseline::command_text(comparison.after));
  if (!comparison.passed) {
    baseline::Program recorded = comparison.after;
    recorded.command.insert(recorded.command.begin(), {"zerotax", "record", "--"});
    answer.steps.push_back({baseline::command_text(recorded), "find the calls in NEW:"});
  }
  if (!comparison.times.empty()) answer.legend = comparison.times.back().line + "; ";
  answer.legend += fmt::format("{} of timed runs; counts of {} of OLD and {} of NEW.",
                               format_counted(comparison.pairs.size(), "pair"),
                               format_counted(comparison.before.runs, "recorded run"), comparison.after.runs);
  answer.more = "All times, metrics and places";
  return answer;
}

}  // namespace zerotax::compare
