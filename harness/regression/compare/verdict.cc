#include "compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/units.h"
#include "judge/judgement.h"
#include "point/typed_point.h"

namespace zerotax::compare {
namespace {

/// A metric over the processes of one side.
struct Seen {
  Measured<std::int64_t> shown;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Seen look(const ComparedSide& side, const WorkFigure& figure) {
  const Figures& figures = side.work.*figure.of;
  if (figures.empty()) return {};
  std::vector<std::int64_t> values;
  for (const Measured<std::int64_t>& value : figures) {
    if (!value) return {value};
    values.push_back(*value);
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  // Faults may differ a little between processes, and are compared by their ranges. All other metrics must be equal in
  // all processes.
  if (*least != *most && figure.of != &Work::faults) {
    return {NotAvailable{fmt::format("{} to {} in {} processes", *least, *most, values.size())}};
  }
  return {observed_median(values), *least, *most};
}

WorkChange compare_figure(const ComparedPoint& point, const WorkFigure& figure) {
  const Seen before = look(point.before, figure);
  const Seen after = look(point.after, figure);
  WorkChange change{figure.name, before.shown, after.shown, 0, false};
  if (!before.shown || !after.shown) return change;
  const std::int64_t slack = figure.of == &Work::faults ? std::int64_t{kFaultSlack} : 0;
  if (after.least > before.most + slack) change.direction = 1;
  if (after.most < before.least - slack) change.direction = -1;
  const bool bytes = figure.of == &Work::zeroed_bytes || figure.of == &Work::redundant_zeroed_bytes;
  const auto distance = change.direction > 0 ? after.least - before.most : before.least - after.most;
  const bool enough = !bytes || is_change_of_zeroing(static_cast<std::uint64_t>(distance), point.size_bytes);
  change.decides = change.direction != 0 && enough;
  return change;
}

std::string change_text(const WorkChange& change) {
  std::string name = change.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format("{} {} -> {}{}", name, format_count(static_cast<std::uint64_t>(*change.before)),
                     format_count(static_cast<std::uint64_t>(*change.after)),
                     change.decides ? "" : " (decides nothing)");
}

std::string time_text(const ComparedPoint& point, const TimeVerdict& time) {
  const std::string ratio = format_number(std::exp(time.log_ratio)) + " times";
  switch (time.kind) {
    case TimeVerdict::Kind::kUnknown:
      if (point.before.ns && point.after.ns && *point.before.ns == *point.after.ns) return "equal times";
      return "a time from a single process proves nothing";
    case TimeVerdict::Kind::kSame:
      return "time is the same";
    case TimeVerdict::Kind::kFaster:
    case TimeVerdict::Kind::kSlower:
      return fmt::format("takes {} the time", ratio);
    case TimeVerdict::Kind::kAmbiguous:
      break;
  }
  return fmt::format("time is not clear ({})", ratio);
}

CompareVerdict judge(const ComparedPoint& point, const TimeVerdict& time) {
  using Time = TimeVerdict::Kind;
  CompareVerdict verdict;
  verdict.time = time;
  verdict.reason = point.why_invalid();
  if (!verdict.reason.empty()) return verdict;
  std::string changes;
  bool more = false;
  bool less = false;
  for (const WorkFigure& figure : kWorkFigures) {
    const WorkChange& change = verdict.work.emplace_back(compare_figure(point, figure));
    more = more || (change.decides && change.direction > 0);
    less = less || (change.decides && change.direction < 0);
    if (change.direction != 0) changes += change_text(change) + "; ";
  }
  verdict.reason = changes + time_text(point, time);
  const bool equal_ns = point.before.ns && point.after.ns && *point.before.ns == *point.after.ns;
  const bool contradicted = (more && time.kind == Time::kFaster) || (less && time.kind == Time::kSlower);
  if (more != less) {
    verdict.kind = contradicted ? CompareKind::kAmbiguous : more ? CompareKind::kSlower : CompareKind::kFaster;
  } else if (time.kind == Time::kSlower) {
    verdict.kind = CompareKind::kSlower;
  } else if (time.kind == Time::kFaster) {
    verdict.kind = CompareKind::kFaster;
  } else {
    // If a side does more of one kind of work and less of a second kind, the time alone decides.
    const bool same = time.kind == Time::kSame || (time.kind == Time::kUnknown && equal_ns);
    verdict.kind = same ? CompareKind::kSame : CompareKind::kAmbiguous;
  }
  return verdict;
}

/// Returns the cost of one call: the median if all calls are alike, otherwise the mean over the kinds of calls, because
/// the median would hide a kind. Returns nothing if the metric was not counted.
std::optional<std::uint64_t> per_call(const Point& point, Metric metric) {
  const std::vector<CallMode>& modes =
      row_of(metric).pass == MetricPass::kAudit ? point.audit_modes : point.timing_modes;
  double mean = 0;
  for (const CallMode& mode : modes) {
    const auto count = mode.count(metric);
    if (!count) return point.count(metric);
    mean += mode.share * static_cast<double>(*count);
  }
  return modes.empty() ? point.count(metric) : static_cast<std::uint64_t>(std::llround(mean));
}

/// Returns a count, or why the point has none.
Measured<std::int64_t> counted(const Point& point, Metric metric, std::optional<std::uint64_t> count) {
  if (count) return static_cast<std::int64_t>(*count);
  const std::string why = point[metric].why_not();
  return NotAvailable{why.empty() ? "not measured" : why};
}

/// Returns the faults of an operation, or the reason why the first missing part is unavailable. An untouched block has
/// no faults from touching.
Measured<std::int64_t> faults_of(const Point& point) {
  std::uint64_t sum = 0;
  for (const Metric metric : {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults}) {
    const auto faults = per_call(point, metric);
    if (!faults && (metric != Metric::kTouchFaults || point.touch != 0.0)) return counted(point, metric, faults);
    sum += faults.value_or(0);
  }
  return static_cast<std::int64_t>(sum);
}

Measured<std::int64_t> calls_of(const Point& point) {
  const SystemCalls* calls = point.calls(Metric::kSyscalls);
  if (calls == nullptr) return counted(point, Metric::kSyscalls, std::nullopt);
  std::int64_t sum = 0;
  for (const auto& [name, times] : *calls) sum += static_cast<std::int64_t>(times);
  return sum;
}

}  // namespace

std::vector<TimeSample> time_samples(const std::vector<ComparedPoint>& points) {
  std::vector<TimeSample> samples;
  for (const ComparedPoint& point : points) {
    TimeSample& sample = samples.emplace_back();
    if (!point.why_invalid().empty()) continue;
    std::vector<double> before;
    for (const CostPair& pair : point.pairs) {
      sample.log_ratios.push_back(std::log(pair.b_ns / pair.a_ns));
      before.push_back(pair.a_ns);
    }
    if (!before.empty()) sample.old_ns = median(before);
  }
  return samples;
}

std::vector<CompareVerdict> judge_points(const std::vector<ComparedPoint>& points, const CompareMethod& method) {
  const std::vector<TimeVerdict> times = judge_times(time_samples(points), method);
  std::vector<CompareVerdict> verdicts;
  for (std::size_t i = 0; i < points.size(); ++i) verdicts.push_back(judge(points[i], times[i]));
  return verdicts;
}

bool any_of_kind(const std::vector<CompareVerdict>& verdicts, CompareKind kind) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const CompareVerdict& each) { return each.kind == kind; });
}

ExitStatus compare_status(const std::vector<CompareVerdict>& verdicts) {
  if (any_of_kind(verdicts, CompareKind::kSlower)) return ExitStatus::kFinding;
  const bool any = any_of_kind(verdicts, CompareKind::kSame) || any_of_kind(verdicts, CompareKind::kFaster);
  return any ? ExitStatus::kDone : ExitStatus::kMachine;
}

std::string compared_key(const ComparedPoint& point) {
  return fmt::format("{}/{}/{:g}/{}", point.case_name, point.size_bytes, point.touch, point.thread);
}

std::string ComparedPoint::why_invalid() const {
  if (!before.invalid.empty()) return "OLD: " + before.invalid;
  return after.invalid.empty() ? invalid : "NEW: " + after.invalid;
}

void add_figures(const Point& point, bool with_times, Cost cost, ComparedSide& side) {
  if (!point.is_ok()) {
    side.invalid = fmt::format("{}: {}", word_of(point.status), point.reason.value_or("no reason is given"));
    return;
  }
  const auto per_call_of = [&](Metric metric) { return counted(point, metric, per_call(point, metric)); };
  side.work.zeroed_bytes.push_back(per_call_of(Metric::kZeroedBytes));
  side.work.redundant_zeroed_bytes.push_back(per_call_of(Metric::kRedundantZeroedBytes));
  side.work.syscalls.push_back(calls_of(point));
  if (side.modes.empty()) side.modes = mode_lines(point);
  if (!with_times) return;
  side.work.faults.push_back(faults_of(point));
  side.ns = cost == Cost::kCalloc ? point.number(Metric::kCallocNs) : operation_ns(point);
}

}  // namespace zerotax::compare
