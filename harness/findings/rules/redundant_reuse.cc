// A block that nobody wrote to is freed and handed out again: it is zero, and calloc zeroes all of it.
#include <fmt/format.h>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/judgement.h"
#include "findings/points.h"
#include "findings/redundant_calls.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

bool zeroes_untouched(const Point& point) { return zeroes_reused(point) == Answer::kYes; }

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
