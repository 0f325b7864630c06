// A block that nobody wrote to is freed and handed out again: it is zero, and calloc zeroes all of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/redundant_calls.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

/// The later calls of a point that zero a reused block that nobody wrote to, if there are any. What the call populates
/// was fresh: that is another rule's, and where calls differ, so is the point.
std::optional<RedundantCalls> reuse_calls(const Point& point) {
  const auto all = redundant_calls(point);
  if (!all || all->empty() || all->front().kind != RedundantKind::kReuse) return std::nullopt;
  return std::any_of(all->begin(), all->end(), [](const auto& calls) { return calls.kind == RedundantKind::kFresh; })
             ? std::nullopt
             : std::optional(all->front());
}

bool zeroes_untouched(const Point& point) { return reuse_calls(point).has_value(); }

std::vector<Finding> find_redundant_reuse(const FindingSubject& subject) {
  const std::vector<const Point*> points = plain_loops(subject);
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, zeroes_untouched))) {
    Finding finding = finding_of("redundant-reuse", range,
                                 {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kCallocFaults,
                                  Metric::kZeroNs, Metric::kCallocNs});
    finding.severity = range.to_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
    const Point& point = point_nearest(range, finding.named_bytes);
    const RedundantCalls calls = *reuse_calls(point);
    const std::string ratio = peer_words_of(subject, point, calls);
    const std::string size = format_size(point.size_bytes);
    const std::string share = calls.every() ? "" : fmt::format(", in {}", which_calls(calls));
    finding.title = fmt::format("calloc({}) zeroes a reused block that nobody wrote to: {} bytes for nothing{}{}", size,
                                redundant_words(calls), share, ratio);
    finding.sentence = fmt::format(
        "At {}, a freed block that was never written to is zeroed whole when it is handed out again: at {} {} "
        "redundant bytes a call{}{}.",
        range_text(range.from_bytes, range.to_bytes), size, redundant_words(calls), share, ratio);
    found.push_back(std::move(finding));
  }
  return found;
}

const FindingRule redundant_reuse_rule("redundant-reuse", "zeros written over a reused block that nobody wrote to",
                                       {"heat", "redundant"}, find_redundant_reuse);

}  // namespace
}  // namespace zerotax::findings
