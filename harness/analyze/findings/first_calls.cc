// What the first call shows is not what the later ones do: a benchmark of one call measures something else than a
// service.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"
#include "analyze/summary.h"
#include "base/size.h"
#include "drive/operation_cost.h"

namespace zerotax {
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

Finding finding_for(const FindingSubject& subject, const FiringRange& range, bool later) {
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

std::vector<Finding> find(const FindingSubject& subject) {
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    // Where the program writes to its block, later blocks are dirty, and nobody expects them to be like the first.
    if (is_plain_loop(*point) && point->at("touch") == 0.0) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, later_dearer)))
    found.push_back(finding_for(subject, range, true));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, first_dearer)))
    found.push_back(finding_for(subject, range, false));
  return found;
}

const FindingRule rule("first-calls-differ", "first calls that differ from later ones", find);

}  // namespace
}  // namespace zerotax
