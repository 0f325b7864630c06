#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/fields.h"
#include "base/table.h"
#include "base/units.h"
#include "compare/compare_document.h"
#include "compare/comparison.h"
#include "compare/points.h"
#include "judge/comparison.h"
#include "os/clock.h"
#include "os/load.h"

namespace zerotax::compare {
namespace {

Measured<RatioInterval> ratios_of(const Interval& interval) {
  if (!std::isfinite(interval.low)) return NotAvailable{"too few pairs for this level"};
  return RatioInterval{std::exp(interval.low), std::exp(interval.high)};
}

Measured<TimeEntry> entry_of(const TimeVerdict& time) {
  constexpr const char* kWords[] = {"unknown", "same", "faster", "slower", "ambiguous"};
  if (time.kind == TimeVerdict::Kind::kUnknown) return NotAvailable{"there are no pairs of processes"};
  return TimeEntry{kWords[static_cast<std::size_t>(time.kind)],
                   std::exp(time.log_ratio),
                   std::exp(time.band),
                   time.p,
                   time.adjusted_p,
                   time.level,
                   ratios_of(time.interval),
                   ratios_of(time.interval95)};
}

SideEntry side_of(const ComparedPoint& point, bool after) {
  const ComparedSide& side = after ? point.after : point.before;
  const Measured<double> ns(side_ns(point, after), side.invalid.empty() ? "not measured" : side.invalid);
  return {side.allocator, ns, side.work, side.modes};
}

ThingEntry entry_of(const ComparedThing& side) {
  return {side_label(side), side.allocator ? allocator_json(*side.allocator) : Json{{"file", side.file}},
          side.environment};
}

/// Returns words such as "-38.2 %" or "+1852 %". Tenths are dropped for multiples.
std::string percent_text(double log_ratio) {
  const double percent = 100 * (std::exp(log_ratio) - 1);
  return percent < 99.95 ? fmt::format("{:+.1f} %", percent) : fmt::format("{:+.0f} %", percent);
}

/// Returns the change of the time in percent. For runs that were made separately, the change is computed from the
/// medians alone.
Measured<std::string> change_text(const ComparedPoint& point, const TimeVerdict& time) {
  if (time.kind != TimeVerdict::Kind::kUnknown) return percent_text(time.log_ratio);
  const auto before = side_ns(point, false);
  const auto after = side_ns(point, true);
  if (!before || !after || *before <= 0 || *after <= 0) return NotAvailable{"not timed on both sides"};
  return percent_text(std::log(*after / *before));
}

Measured<std::string> change_interval_text(const TimeVerdict& time) {
  if (time.kind == TimeVerdict::Kind::kUnknown) return NotAvailable{"there are no pairs of processes"};
  if (!std::isfinite(time.interval95.low)) return NotAvailable{"too few pairs for this level"};
  return fmt::format("{} to {}", percent_text(time.interval95.low), percent_text(time.interval95.high));
}

PointEntry entry_of(const CompareReport& report, std::size_t i) {
  const ComparedPoint& point = report.points[i];
  const CompareVerdict& verdict = report.verdicts[i];
  PointEntry entry;
  entry.label = point_label(report, i);
  entry.case_name = point.case_name;
  entry.size_bytes = point.size_bytes;
  entry.touch = point.touch;
  entry.thread = point.thread;
  entry.verdict = verdict.kind;
  entry.reason = verdict.reason;
  for (const WorkChange& change : verdict.work) {
    entry.work.push_back({change.name, change.before, change.after,
                          change.direction > 0   ? "more"
                          : change.direction < 0 ? "less"
                                                 : "none proven",
                          change.decides});
  }
  entry.time = entry_of(verdict.time);
  entry.change = change_text(point, verdict.time);
  entry.change_interval = change_interval_text(verdict.time);
  entry.before = side_of(point, false);
  entry.after = side_of(point, true);
  for (const CostPair& pair : point.pairs) {
    entry.pairs.push_back({pair.a_ns, pair.b_ns, pair.a_first ? "old" : "new"});
  }
  return entry;
}

/// Returns the load of the last minute in words, and whether the machine was busy.
std::pair<std::string, bool> load_of(const Json& environment) {
  const Json& load = environment.at("load_average");
  if (!load.is_array()) return {"n/a", false};
  const double last = load.at(0);
  return {json_line(load.at(0)), load_level(last, environment.at("cpus")) == LoadLevel::kBusy};
}

/// Returns the metrics of one process in Google Benchmark's format. The format needs a CPU time, which is not measured
/// here. Instead, the wall time is written as the CPU time, because an operation does not wait (the context of the file
/// says so).
Json repetition(const std::string& name, std::size_t index, std::size_t of, double ns) {
  return {
      {"name", name}, {"run_name", name}, {"run_type", "iteration"}, {"repetitions", of}, {"repetition_index", index},
      {"threads", 1}, {"iterations", 1},  {"real_time", ns},         {"cpu_time", ns},    {"time_unit", "ns"}};
}

/// Adds exact metrics as counters if every process had the same value.
void add_counters(const CompareVerdict& verdict, bool after, Json& entry) {
  for (const WorkChange& change : verdict.work) {
    const Measured<std::int64_t>& figure = after ? change.after : change.before;
    if (figure) entry[change.name] = *figure;
  }
}

/// Returns six digits, or a blank cell if the number is unknown.
Cell number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Cell(fmt::format("{:.6g}", *value)) : Cell();
}

Cell whole(const Measured<std::int64_t>& figure) { return figure ? Cell(std::to_string(*figure)) : Cell(); }

using exchange::Measure;
using exchange::Outcome;
using exchange::OutcomeKind;
using exchange::OutcomeList;

OutcomeKind outcome_kind(CompareKind kind) {
  // AMBIGUOUS and INVALID prove nothing, so these verdicts do not count as failures.
  constexpr OutcomeKind kKinds[] = {OutcomeKind::kSame, OutcomeKind::kBetter, OutcomeKind::kWorse,
                                    OutcomeKind::kSkipped, OutcomeKind::kSkipped};
  return kKinds[static_cast<std::size_t>(kind)];
}

/// Returns the name of the allocator. With two runs, a point may exist in only one of them.
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

/// Returns NEW's metrics for a service that tracks metrics from commit to commit. "latency" is Bencher's own name for
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
  outcome.verdict = word(verdict.kind);
  outcome.headline = verdict.reason;
  if (verdict.kind != CompareKind::kSame) outcome.details = explain_text(report, i);
  outcome.cells = cells_of(point, verdict.time);
  return outcome;
}

}  // namespace

std::string differing_conditions(const Json& before, const Json& after) {
  // Slack for the memory size, because a machine has a few pages more or less after each boot.
  constexpr double kSlack = 0.01;
  static const std::vector<ConditionRow> rows{{"kernel", "kernel"},
                                              {"machine", "machine"},
                                              {"cpu", "cpu"},
                                              {"cpus", "cpus"},
                                              {"memory_bytes", "memory_bytes", kSlack},
                                              {"page_bytes", "page_bytes"},
                                              {"thp", "thp"},
                                              {"swap_bytes", "swap_bytes", kSlack},
                                              {"cgroup_memory_limit_bytes", "cgroup_memory_limit_bytes", kSlack},
                                              {"libc", "libc"}};
  std::vector<std::string> differences;
  for (const ConditionDifference& each : zerotax::differing_conditions(rows, before, after)) {
    differences.push_back(fmt::format("{}: {} and {}", each.name, each.before, each.after));
  }
  const auto [old_load, was_busy] = load_of(before);
  const auto [new_load, is_busy] = load_of(after);
  if (was_busy != is_busy) differences.push_back(fmt::format("load: {} and {}", old_load, new_load));
  return fmt::format("{}", fmt::join(differences, "; "));
}

CompareDocument compare_document(const CompareReport& report) {
  CompareDocument document;
  document.state = completion(report.whole);
  document.verdict = compare_kind(report.verdicts);
  document.sentence = count_text(report.verdicts);
  document.notes = compare_notes(report);
  document.measured = report.measured;
  document.before = entry_of(report.before);
  document.after = entry_of(report.after);
  document.cost = report.cost == Cost::kCalloc ? "calloc" : "total";
  if (report.measured) document.pairs_per_point = report.pairs;
  document.method = report.method;
  if (report.shuffled_rate) document.false_alarms.shuffled = ShuffledAlarms{report.shuffles, *report.shuffled_rate};
  std::size_t KindCounts::*const counts[] = {&KindCounts::same, &KindCounts::faster, &KindCounts::slower,
                                             &KindCounts::ambiguous, &KindCounts::invalid};
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    document.points.push_back(entry_of(report, i));
    ++(document.counts.*counts[static_cast<std::size_t>(report.verdicts[i].kind)]);
  }
  return document;
}

Json google_benchmark_json(const CompareReport& report, bool after) {
  const ComparedThing& side = after ? report.after : report.before;
  Json json;
  json["context"] = {
      {"date", utc_now()},
      {"executable", "zerotax compare"},
      {"num_cpus", side.environment.at("cpus")},
      {"mhz_per_cpu", 0},
      {"cpu_scaling_enabled", false},
      {"caches", Json::array()},
      {"load_avg", side.environment.at("load_average")},
      {"library_build_type", "release"},
      {"zerotax_side", side_label(side)},
      {"zerotax_note", "each repetition is a process: the median of its operations; cpu_time is real_time"}};
  json["benchmarks"] = Json::array();
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const ComparedPoint& point = report.points[i];
    if (report.verdicts[i].kind == CompareKind::kInvalid) continue;
    // Runs of several allocators contain each point several times.
    const std::string name = (report.measured ? "" : point.before.allocator + "/") + compared_key(point);
    std::vector<double> times;
    for (const CostPair& pair : point.pairs) times.push_back(after ? pair.b_ns : pair.a_ns);
    if (times.empty()) {
      if (const auto ns = side_ns(point, after)) times.push_back(*ns);
    }
    for (std::size_t k = 0; k < times.size(); ++k) {
      Json& entry = json["benchmarks"].emplace_back(repetition(name, k, times.size(), times[k]));
      add_counters(report.verdicts[i], after, entry);
    }
  }
  return json;
}

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
    std::vector<Cell> cells{
        point.before.allocator,           point.after.allocator, point.case_name,    std::to_string(point.size_bytes),
        fmt::format("{:g}", point.touch), point.thread,          word(verdict.kind), number(side_ns(point, false)),
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
    notes.emplace_back("The runs were made separately: counts are judged exactly, but times decide nothing.");
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
