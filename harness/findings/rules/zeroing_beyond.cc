// More bytes are zeroed than were asked for.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "findings/points.h"
#include "findings/rule.h"
#include "os/page.h"

namespace zerotax::findings {
namespace {

/// Bytes beyond the request, in the first call or the later ones, whichever has more.
std::uint64_t beyond(const Json& point) {
  const std::uint64_t zeroed =
      std::max(count_in(point, "zeroed_bytes").value_or(0), count_in(point, "first_zeroed_bytes").value_or(0));
  return zeroed > size_of(point) ? zeroed - size_of(point) : 0;
}

double share_beyond(const Json& point) {
  return static_cast<double>(beyond(point)) / static_cast<double>(size_of(point));
}

/// A header, the rest of a page, and a sixteenth of the block are rounding.
bool zeroes_beyond(const Json& point) { return beyond(point) >= std::max(kPageBytes, size_of(point) / 16); }

/// Size classes make gaps, in which requests happen to fit: all sizes together are one finding.
std::optional<FiringRange> all_that_fire(const FindingSubject& subject) {
  std::optional<FiringRange> all;
  const bool on_main = std::any_of(subject.points.begin(), subject.points.end(),
                                   [](const Json* point) { return point->at("thread") == "main"; });
  for (const Json* point : subject.points) {
    // A thread that is new has records set up for it by its first call, which are zeroed too: no part of the block.
    if (on_main && point->at("thread") != "main") continue;
    if (!is_plain_loop(*point) || !zeroes_beyond(*point)) continue;
    if (!all) all = FiringRange{size_of(*point), size_of(*point), {}};
    all->from_bytes = std::min(all->from_bytes, size_of(*point));
    all->to_bytes = std::max(all->to_bytes, size_of(*point));
    all->points.push_back(point);
  }
  return all;
}

std::vector<Finding> find_zeroing_beyond(const FindingSubject& subject) {
  const auto range = all_that_fire(subject);
  if (!range) return {};
  Finding finding = finding_of("zeroing-beyond", *range,
                               {"zeroed_bytes", "first_zeroed_bytes", "redundant_zeroed_bytes", "calloc_ns"});
  const Json& point =
      **std::max_element(range->points.begin(), range->points.end(),
                         [](const Json* one, const Json* other) { return share_beyond(*one) < share_beyond(*other); });
  // Neighbours of this size may fit their class: it is the one that shows it.
  finding.named_bytes = size_of(point);
  finding.severity = beyond(point) >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const std::string size = format_size(size_of(point));
  finding.title =
      fmt::format("calloc({}) zeroes {:.2f} times as many bytes as were asked for", size, 1 + share_beyond(point));
  finding.sentence = fmt::format(
      "At sizes of {}, calloc zeroes beyond the end of the request: at {} {} bytes more than asked "
      "for, {:.0f} % of the request.",
      range_text(range->from_bytes, range->to_bytes), size, format_count(beyond(point)), 100 * share_beyond(point));
  return {finding};
}

const FindingRule zeroing_beyond_rule("zeroing-beyond", "more bytes zeroed than were asked for", find_zeroing_beyond);

}  // namespace
}  // namespace zerotax::findings
