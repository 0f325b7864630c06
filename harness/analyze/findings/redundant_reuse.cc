// A block that nobody wrote to is freed and handed out again: it is zero, and calloc zeroes all of it.
#include <fmt/format.h>

#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"
#include "analyze/summary.h"
#include "base/size.h"
#include "drive/operation_cost.h"

namespace zerotax {
namespace {

bool zeroes_untouched(const Json& point) {
  const auto redundant = count_in(point, "redundant_zeroed_bytes");
  const auto populated = count_in(point, "populated_bytes");
  // What the call populates was fresh: that is another rule's.
  return redundant && populated && is_much(*redundant, size_of(point)) && !is_much(*populated, size_of(point));
}

std::vector<Finding> find(const FindingSubject& subject) {
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    if (is_plain_loop(*point)) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, zeroes_untouched))) {
    Finding finding = finding_of("redundant-reuse", range,
                                 {"zeroed_bytes", "redundant_zeroed_bytes", "calloc_faults", "zero_ns", "calloc_ns"});
    finding.severity = range.to_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
    const Json& point = point_nearest(range, finding.named_bytes);
    const std::string ratio = peer_words(fastest_peer(subject, point, calloc_ns));
    const std::string size = format_size(size_of(point));
    finding.title = fmt::format("calloc({}) zeroes a reused block that nobody wrote to: {} bytes for nothing{}", size,
                                format_count(*count_in(point, "redundant_zeroed_bytes")), ratio);
    finding.sentence = fmt::format(
        "At {}, a freed block that was never written to is zeroed whole when it is handed out again: at {} {} "
        "redundant bytes a call{}.",
        range_text(range.from_bytes, range.to_bytes), size, format_count(*count_in(point, "redundant_zeroed_bytes")),
        ratio);
    found.push_back(std::move(finding));
  }
  return found;
}

const FindingRule rule("redundant-reuse", "zeros written over a reused block that nobody wrote to", find);

}  // namespace
}  // namespace zerotax
