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

bool later_dearer(const Json& point) {
  const auto first = count_in(point, "first_redundant_zeroed_bytes");
  const auto later = count_in(point, "redundant_zeroed_bytes");
  return first && later && is_little(*first, size_of(point)) && is_much(*later, size_of(point));
}

bool first_dearer(const Json& point) {
  const auto first = count_in(point, "first_redundant_zeroed_bytes");
  const auto later = count_in(point, "redundant_zeroed_bytes");
  return first && later && is_much(*first, size_of(point)) && is_little(*later, size_of(point));
}

/// Which early call took most faults, and how many.
std::pair<std::uint64_t, std::uint64_t> worst_call(const Json& point) {
  std::pair<std::uint64_t, std::uint64_t> worst{1, 0};
  for (const Json& early : point.at("first_ops")) {
    const std::uint64_t faults = count_in(early, "calloc_faults").value_or(0);
    if (faults > worst.second) worst = {early.at("op").get<std::uint64_t>(), faults};
  }
  return worst;
}

Finding first_calls_finding(const FindingSubject& subject, const FiringRange& range, bool later) {
  Finding finding = finding_of(later ? "first-calls-differ" : "first-calls-differ-dearer", range,
                               {"first_redundant_zeroed_bytes", "redundant_zeroed_bytes", "first_calloc_faults",
                                "calloc_faults", "first_calloc_ns", "calloc_ns"});
  finding.severity = Severity::kLow;
  const Json& point = point_nearest(range, finding.named_bytes);
  const std::string size = format_size(size_of(point));
  const std::string first_bytes = format_count(*count_in(point, "first_redundant_zeroed_bytes"));
  const std::string later_bytes = format_count(*count_in(point, "redundant_zeroed_bytes"));
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
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    // Where the program writes to its block, later blocks are dirty, and nobody expects them to be like the first.
    if (is_plain_loop(*point) && point->at("touch") == 0.0) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, later_dearer)))
    found.push_back(first_calls_finding(subject, range, true));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, first_dearer)))
    found.push_back(first_calls_finding(subject, range, false));
  return found;
}

const FindingRule first_calls_rule("first-calls-differ", "first calls that differ from later ones", find_first_calls);

}  // namespace
}  // namespace zerotax::findings
