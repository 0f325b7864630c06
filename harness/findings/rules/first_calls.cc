// What the first call shows is not what the later ones do: a benchmark of one call measures something else than a
// service.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

bool later_dearer(const Point& point) {
  const auto first = count_of(point, of_first(Metric::kRedundantZeroedBytes));
  const auto later = point.evident_count(Metric::kRedundantZeroedBytes);
  return first && later && is_little(*first, point.size_bytes) && is_much(*later, point.size_bytes);
}

bool first_dearer(const Point& point) {
  const auto first = count_of(point, of_first(Metric::kRedundantZeroedBytes));
  const auto later = point.evident_count(Metric::kRedundantZeroedBytes);
  return first && later && is_much(*first, point.size_bytes) && is_little(*later, point.size_bytes);
}

/// Which early call took most faults, and how many.
std::pair<std::uint64_t, std::uint64_t> worst_call(const Point& point) {
  std::pair<std::uint64_t, std::uint64_t> worst{1, 0};
  for (const FirstOperation& early : point.first_ops) {
    const std::uint64_t faults = early.evident_count(Metric::kCallocFaults).value_or(0);
    if (faults > worst.second) worst = {early.op, faults};
  }
  return worst;
}

Finding first_calls_finding(const FindingSubject& subject, const FiringRange& range, bool later) {
  Finding finding = finding_of(
      later ? "first-calls-differ" : "first-calls-differ-dearer", range,
      {of_first(Metric::kRedundantZeroedBytes), Metric::kRedundantZeroedBytes, of_first(Metric::kCallocFaults),
       Metric::kCallocFaults, of_first(Metric::kCallocNs), Metric::kCallocNs});
  finding.severity = Severity::kLow;
  const Point& point = point_nearest(range, finding.named_bytes);
  const std::string size = format_size(point.size_bytes);
  const std::string first_bytes = format_count(*count_of(point, of_first(Metric::kRedundantZeroedBytes)));
  const std::string later_bytes = format_count(*point.evident_count(Metric::kRedundantZeroedBytes));
  const auto [call, faults] = worst_call(point);
  finding.title = fmt::format("the first calloc({}) zeroes {} bytes needlessly, later ones {}{}", size, first_bytes,
                              later_bytes, peer_words(fastest_peer(subject, point, calloc_ns)));
  finding.sentence = fmt::format(
      "At {}, the first call behaves otherwise than the later ones: at {} it writes {} redundant zeros, and later "
      "calls "
      "{}; most page faults of an early call, {}, are in call {}.",
      range_text(range.from_bytes, range.to_bytes), size, first_bytes, later_bytes, format_count(faults), call);
  return finding;
}

std::vector<Finding> find_first_calls(const FindingSubject& subject) {
  std::vector<const Point*> points;
  for (const Point* point : subject.points) {
    // Where the program writes to its block, later blocks are dirty, and nobody expects them to be like the first.
    if (is_plain_loop(*point) && point->touch == 0.0) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, later_dearer)))
    found.push_back(first_calls_finding(subject, range, true));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, first_dearer)))
    found.push_back(first_calls_finding(subject, range, false));
  return found;
}

const FindingRule first_calls_rule("first-calls-differ", "first calls that differ from later ones",
                                   {"bytes", "first_redundant"}, find_first_calls);

}  // namespace
}  // namespace zerotax::findings
