// More bytes are zeroed than were asked for.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "findings/judgement.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
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
  Finding finding = finding_of(
      "zeroing-beyond", *range,
      {Metric::kZeroedBytes, of_first(Metric::kZeroedBytes), Metric::kRedundantZeroedBytes, Metric::kCallocNs});
  const Point& point = **std::max_element(
      range->points.begin(), range->points.end(),
      [](const Point* one, const Point* other) { return share_beyond(*one) < share_beyond(*other); });
  // Neighbours of this size may fit their class: it is the one that shows it.
  finding.named_bytes = point.size_bytes;
  finding.severity = bytes_beyond(point) >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const std::string size = format_size(point.size_bytes);
  finding.title =
      fmt::format("calloc({}) zeroes {:.2f} times as many bytes as were asked for", size, 1 + share_beyond(point));
  finding.sentence = fmt::format(
      "At sizes of {}, calloc zeroes beyond the end of the request: at {} {} bytes more than asked "
      "for, {:.0f} % of the request.",
      range_text(range->from_bytes, range->to_bytes), size, format_count(bytes_beyond(point)),
      100 * share_beyond(point));
  return {finding};
}

const FindingRule zeroing_beyond_rule("zeroing-beyond", "more bytes zeroed than were asked for", {"bytes", "zeroed"},
                                      find_zeroing_beyond);

}  // namespace
}  // namespace zerotax::findings
