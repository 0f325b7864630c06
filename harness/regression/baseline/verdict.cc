#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.h"
#include "baseline/result.h"
#include "judge/comparison.h"

namespace zerotax::baseline {
namespace {

std::string overall_sentence(const std::vector<AllocatorCheck>& results, Verdict verdict) {
  if (results.size() == 1) return results.front().sentence;
  std::vector<std::string> changed;
  for (const AllocatorCheck& result : results) {
    if (result.verdict != Verdict::kSame) changed.push_back(result.allocator.name);
  }
  if (changed.empty())
    return fmt::format("same: {} as in their baselines", format_counted(results.size(), "allocator"));
  return fmt::format("{}: {} of {} allocators differ{} from their baselines: {}", word(verdict), changed.size(),
                     results.size(), changed.size() == 1 ? "s" : "", fmt::join(changed, ", "));
}

/// Adds the searches for broken promises to the verdict and the sentence.
void add_proofs(AllocatorChecks& checks) {
  std::vector<std::string> broken;
  std::uint64_t reused = 0;
  for (const AllocatorCheck& each : checks.checks) {
    if (!each.proof) continue;
    if (each.proof->finding)
      broken.push_back(fmt::format("{} broke a promise: {}", each.allocator.name, each.proof->finding->sentence));
    reused += each.proof->coverage.all_reused();
  }
  if (!broken.empty()) {
    checks.verdict = Verdict::kFailed;
    checks.passed = false;
    checks.sentence = fmt::format("failed: {}; {}", fmt::join(broken, "; "), checks.sentence);
  } else if (reused > 0) {
    checks.sentence +=
        fmt::format("; no broken promise in {} on reused memory", format_counted(reused, "zeroing call"));
  }
}

/// Returns whether any point of a baseline has a value of this metric, or a reason why the metric is unavailable.
bool is_held(const Baseline& baseline, Metric metric) {
  return std::any_of(baseline.points.begin(), baseline.points.end(),
                     [&](const Point& point) { return !point[metric].is_absent(); });
}

/// Returns why a metric of a point was not compared, or "" if it was compared or does not matter.
std::string why_not_compared(const Baseline& before, const Point& point, const Point* now, const MetricRow& row) {
  if (now == nullptr || !point.is_ok() || !now->is_ok() || (row.of_touching && point.touch == 0)) return "";
  // A metric that has a range is compared even if its value is n/a.
  const std::string was =
      range_of(before, {identity_of(point), 0, row.metric}) != nullptr ? "" : point.why_not(row.metric);
  const std::string is = now->why_not(row.metric);
  if (was.empty()) return is.empty() ? "" : "not measured now: " + is;
  return "not in the baseline: " + was;
}

/// A condition, and the metrics that it can change. The CPU model is informative only, because it changes only times.
struct Condition : ConditionRow {
  std::vector<Metric> metrics;  ///< metrics that depend on the condition; empty for all
  const char* what;
};

const std::vector<Condition>& conditions() {
  using enum Metric;
  static const std::vector<Metric> of_pages{
      kPopulatedBytes, kRedundantZeroedBytes, kCallocFaults,  kTouchFaults,
      kFreeFaults,     kKernelZeroedBytes,    kReturnedBytes, kRedundantZeroedInFreeBytes};
  static const std::vector<Condition> all{
      {{"kernel", "kernel"}, {}, "the behavior of mmap, madvise and page faults"},
      {{"thp", "transparent huge pages"}, of_pages, "faults, and the memory that a fault populates"},
      {{"page_bytes", "page size"}, {}, "all metrics that are counted in pages"},
      {{"cpus", "CPUs"}, {}, "the number of arenas and caches that an allocator makes"},
      {{"libc", "C library"}, {}, "the functions that allocators take from the C library"},
      {{"pagemap_scan", "PAGEMAP_SCAN"}, of_pages, "the accuracy with which populated pages are seen"},
      {{"zerotax", "zerotax"}, {}, "the method by which metrics are measured"}};
  return all;
}

bool explains(const Condition& condition, const std::vector<BaselineChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const BaselineChange& change) {
    if (change.kind == ChangeKind::kThreshold || condition.metrics.empty()) return true;
    return change.metric &&
           std::find(condition.metrics.begin(), condition.metrics.end(), *change.metric) != condition.metrics.end();
  });
}

/// The conditions of a recorded command: the key of each, and the words for it in a sentence.
const std::vector<ConditionRow>& program_conditions() {
  static const std::vector<ConditionRow> rows{{"kernel", "kernel"},        {"thp", "transparent huge pages"},
                                              {"libc", "C library"},       {"aslr", "address randomisation"},
                                              {"allocator", "allocator"},  {"cpus", "CPUs"},
                                              {"page_bytes", "page size"}, {"zerotax", "zerotax"}};
  return rows;
}

}  // namespace

std::vector<NotCompared> metrics_not_compared(const Baseline& before, const Baseline& after) {
  std::vector<NotCompared> found;
  if (before.points.empty()) return found;
  for (const Metric metric : kSteadyMetrics) {
    const MetricRow& row = row_of(metric);
    if (!is_held(before, metric)) {
      found.push_back({row.key, "the baseline does not hold it"});
      continue;
    }
    for (const Point& point : before.points) {
      const PointIdentity identity = identity_of(point);
      const std::string why = why_not_compared(before, point, point_of(after, identity), row);
      if (!why.empty()) found.push_back({name_of(Slot{identity, 0, metric}), why});
    }
  }
  for (const UncertainThreshold& each : before.uncertain) {
    found.push_back({name_of(each), "uncertain in the baseline"});
  }
  return found;
}

AllocatorChecks checks_of(std::vector<AllocatorCheck> results, bool strict) {
  const Verdict verdict = joined_verdict(results);
  std::string sentence = overall_sentence(results, verdict);
  AllocatorChecks checks{std::move(results), strict, verdict, std::move(sentence), passes(verdict, strict)};
  add_proofs(checks);
  return checks;
}

const char* way_of(const Review& review, const PointIdentity& point) {
  bool worse = false;
  bool better = false;
  bool any = false;
  for (const ReviewGroup& group : review.groups) {
    for (const std::size_t place : group.changes) {
      if (review.changes[place].point != point) continue;
      any = true;
      worse |= group.direction == Direction::kWorse;
      better |= group.direction == Direction::kBetter;
    }
  }
  if (!any) return "same";
  if (!worse && !better) return word(Direction::kNeither);
  return word(joined_verdict(false, worse, better, false));
}

std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes) {
  std::vector<ConditionDifference> found;
  for (const Condition& condition : conditions()) {
    for (ConditionDifference& each : zerotax::differing_conditions({condition}, before, after)) {
      each.may_explain = each.before != "unknown" && each.after != "unknown" && explains(condition, changes);
      each.sentence += each.may_explain ? fmt::format("; it changes {}.", condition.what) : ".";
      found.push_back(std::move(each));
    }
  }
  return found;
}

ProgramCheck check_of(const Program& baseline, Judged judged, const ProgramConditions& measured_on,
                      const std::string& same) {
  ProgramCheck check;
  check.zerotax_version = ZEROTAX_VERSION;
  static_cast<Program&>(check.baseline) = baseline;
  check.measured = std::move(judged.first);
  check.runs = judged.runs;
  check.changes = std::move(judged.changes);
  check.not_compared = std::move(judged.not_compared);
  for (ProgramChange& change : check.changes) change.line = words_of(change);
  check.sites = site_changes(baseline, check.measured);
  for (SiteChange& site : check.sites) site.line = place_words(site);
  for (const runs::MetricRow& row : runs::metric_rows()) {
    if (!is_empty(check.measured.all[row.metric])) check.words[row.key] = row.name;
  }
  check.measured_on = measured_on;
  check.conditions = zerotax::differing_conditions(program_conditions(), baseline.measured_on, measured_on);
  for (const ConditionDifference& each : check.conditions) check.condition_sentences.push_back(each.sentence);
  check.verdict = verdict_of(check.changes);
  check.passed = passes(check.verdict, false);
  check.sentence = sentence_of(check, same);
  check.advice = advice_of(check);
  return check;
}

ProgramChecks checks_of(std::vector<ProgramCheck> checks) {
  constexpr std::size_t kNamed = 3;
  ProgramChecks all;
  std::vector<std::string> names;
  for (const ProgramCheck& check : checks) {
    if (check.verdict != Verdict::kSame) names.push_back(check.subject.name);
    all.passed = all.passed && check.passed;
  }
  all.verdict = joined_verdict(checks);
  const std::size_t same = checks.size() - names.size();
  if (names.size() > kNamed) {
    const std::size_t more = names.size() - kNamed;
    names.resize(kNamed);
    names.push_back(fmt::format("{} more", more));
  }
  const std::string count = format_counted(checks.size(), "command");
  if (names.empty()) {
    all.sentence = fmt::format("same: {} are as in the baseline", count);
  } else {
    all.sentence = fmt::format("{}: {}{}", word(all.verdict), fmt::join(names, ", "),
                               same > 0 ? fmt::format("; {} of {} are as in the baseline", same, count) : "");
  }
  all.checks = std::move(checks);
  return all;
}

}  // namespace zerotax::baseline
