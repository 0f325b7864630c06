// More bytes are zeroed than were asked for.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

double share_beyond(const Point& point) {
  return static_cast<double>(bytes_beyond(point)) / static_cast<double>(point.size_bytes);
}

/// Size classes make gaps, in which requests happen to fit: all sizes together are one finding.
std::optional<FiringRange> all_that_fire(const FindingSubject& subject) {
  std::optional<FiringRange> all;
  const bool on_main = std::any_of(subject.points.begin(), subject.points.end(),
                                   [](const Point* point) { return point->thread == "main"; });
  for (const Point* point : subject.points) {
    // A thread that is new has records set up for it by its first call, which are zeroed too: no part of the block.
    if (on_main && point->thread != "main") continue;
    if (!is_plain_loop(*point) || zeroes_beyond(*point) != Answer::kYes) continue;
    if (!all) all = FiringRange{point->size_bytes, point->size_bytes, {}};
    all->from_bytes = std::min(all->from_bytes, point->size_bytes);
    all->to_bytes = std::max(all->to_bytes, point->size_bytes);
    all->points.push_back(point);
  }
  return all;
}

std::vector<Finding> find_zeroing_beyond(const FindingSubject& subject) {
  const auto range = all_that_fire(subject);
  if (!range) return {};
  // Neighbours of the size with the largest share may fit their class: it is the one that shows it.
  const Point& shown = **std::max_element(
      range->points.begin(), range->points.end(),
      [](const Point* one, const Point* other) { return share_beyond(*one) < share_beyond(*other); });
  const Severity severity = bytes_beyond(shown) >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const auto slots = [](const Point& point, const FiringRange&) {
    return Slots{{"times", fmt::format("{:.2f}", 1 + share_beyond(point))},
                 {"bytes", format_count(bytes_beyond(point))},
                 {"percent", fmt::format("{:.0f} %", 100 * share_beyond(point))}};
  };
  return {finding_of(
      {"zeroing-beyond",
       {Metric::kZeroedBytes, of_first(Metric::kZeroedBytes), Metric::kRedundantZeroedBytes, Metric::kCallocNs},
       {},
       {severity, severity},
       "calloc({size}) zeroes {times} times as many bytes as were asked for",
       "At sizes of {sizes}, calloc zeroes beyond the end of the request: at {size} {bytes} bytes more "
       "than asked for, {percent} of the request.",
       slots},
      *range, &shown)};
}

const FindingRule zeroing_beyond_rule("zeroing-beyond", "more bytes zeroed than were asked for", {"bytes", "zeroed"},
                                      find_zeroing_beyond);

}  // namespace
}  // namespace zerotax
