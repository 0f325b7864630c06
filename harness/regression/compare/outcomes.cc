#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "compare/comparison.h"

namespace zerotax::compare {
namespace {

using exchange::Measure;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

OutcomeKind outcome_kind(CompareKind kind) {
  // What is AMBIGUOUS or INVALID proves nothing, and fails nothing.
  constexpr OutcomeKind kKinds[] = {OutcomeKind::kSame, OutcomeKind::kBetter, OutcomeKind::kWorse,
                                    OutcomeKind::kSkipped, OutcomeKind::kSkipped};
  return kKinds[static_cast<std::size_t>(kind)];
}

/// Of two runs, a point may be in one alone.
const std::string& name_of_allocator(const CompareReport& report, const ComparedPoint& point) {
  if (report.measured) return point.after.allocator;
  return point.before.allocator.empty() ? point.after.allocator : point.before.allocator;
}

std::vector<std::string> cells_of(const ComparedPoint& point, const TimeVerdict& time) {
  const auto before = side_ns(point, false);
  const auto after = side_ns(point, true);
  const bool known = time.kind != TimeVerdict::Kind::kUnknown;
  const bool bounded = known && std::isfinite(time.interval.low);
  return {before ? format_ns(*before) : "n/a", after ? format_ns(*after) : "n/a",
          known ? ratio_text(time.log_ratio) : "n/a",
          bounded ? ratio_text(time.interval.low) + " to " + ratio_text(time.interval.high) : "n/a"};
}

/// NEW's figures, for a service that tracks them from commit to commit. "latency" is Bencher's own name for
/// nanoseconds.
std::vector<Measure> measures_of(const ComparedPoint& point, const CompareVerdict& verdict) {
  std::vector<Measure> measures;
  if (const auto ns = side_ns(point, true)) {
    Measure& latency = measures.emplace_back(Measure{"latency", *ns});
    for (const CostPair& pair : point.pairs) {
      latency.lower = std::min(latency.lower.value_or(pair.b_ns), pair.b_ns);
      latency.upper = std::max(latency.upper.value_or(pair.b_ns), pair.b_ns);
    }
  }
  if (const TimeVerdict& time = verdict.time; time.kind != TimeVerdict::Kind::kUnknown) {
    const TimeRatio ratio = ratio_of(time);
    measures.push_back({"time-ratio", ratio.median, ratio.low, ratio.high});
  }
  for (const WorkChange& change : verdict.work) {
    if (change.after) measures.push_back({change.name, static_cast<double>(*change.after)});
  }
  return measures;
}

Outcome outcome_of(const CompareReport& report, std::size_t i) {
  const ComparedPoint& point = report.points[i];
  const CompareVerdict& verdict = report.verdicts[i];
  Outcome outcome;
  outcome.suite = name_of_allocator(report, point);
  outcome.name = compared_key(point);
  outcome.label = point_label(report, i);
  outcome.kind = outcome_kind(verdict.kind);
  outcome.fails = verdict.kind == CompareKind::kSlower;
  outcome.verdict = compare_word(verdict.kind);
  outcome.headline = verdict.reason;
  if (verdict.kind != CompareKind::kSame) outcome.details = explain_text(report, i);
  outcome.cells = cells_of(point, verdict.time);
  return outcome;
}

}  // namespace

OutcomeKind compare_kind(const std::vector<CompareVerdict>& verdicts) {
  for (const CompareKind kind : {CompareKind::kSlower, CompareKind::kFaster, CompareKind::kSame}) {
    if (any_of_kind(verdicts, kind)) return outcome_kind(kind);
  }
  return OutcomeKind::kSkipped;
}

std::vector<std::string> compare_notes(const CompareReport& report) {
  std::vector<std::string> notes;
  if (!report.whole) notes.emplace_back("Interrupted: the verdicts cover the pairs measured so far.");
  if (!report.measured) {
    notes.emplace_back("The runs were made apart: what is counted is judged exactly, times decide nothing.");
  }
  const auto mixed = static_cast<std::uint64_t>(std::count_if(
      report.points.begin(), report.points.end(),
      [](const ComparedPoint& point) { return !point.before.modes.empty() || !point.after.modes.empty(); }));
  if (mixed > 0) {
    notes.push_back(fmt::format("The calls of {} are not alike: their means are compared. --explain shows each kind.",
                                format_counted(mixed, "point")));
  }
  notes.push_back(false_alarm_text(report));
  return notes;
}

OutcomeList compare_outcomes(const CompareReport& report) {
  OutcomeList list;
  list.command = "zerotax compare";
  list.subject = fmt::format("OLD {}, NEW {}", side_label(report.before), side_label(report.after));
  list.kind = compare_kind(report.verdicts);
  list.sentence = count_text(report.verdicts);
  list.thing = "point";
  list.columns = {"OLD", "NEW", "NEW / OLD", "corrected interval"};
  list.passed_in_table = true;
  list.notes = compare_notes(report);
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Outcome& outcome = list.outcomes.emplace_back(outcome_of(report, i));
    if (report.verdicts[i].kind == CompareKind::kInvalid) continue;
    list.benchmarks.push_back({outcome.suite + "/" + outcome.name, measures_of(report.points[i], report.verdicts[i])});
  }
  return list;
}

}  // namespace zerotax::compare
