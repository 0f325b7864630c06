// free writes zeros over its block: calloc may then find it clean, but each block is cleared, also those that nobody
// asks for again, or that nobody had written to.
#include <fmt/format.h>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

bool clears_zeros(const Point& point) {
  const auto redundant = point.evident_count(Metric::kRedundantZeroedInFreeBytes);
  return redundant && is_much(*redundant, point.size_bytes);
}

/// What the program wrote is cleared, and little else.
bool clears_contents(const Point& point) {
  const auto zeroed = point.evident_count(Metric::kZeroedInFreeBytes);
  return zeroed && is_much(*zeroed, point.size_bytes) && !clears_zeros(point);
}

Finding zeroing_in_free_finding(const FindingSubject& subject, const FiringRange& range, bool redundant) {
  Finding finding = finding_of(redundant ? "zeroing-in-free-redundant" : "zeroing-in-free", range,
                               {Metric::kZeroedInFreeBytes, Metric::kRedundantZeroedInFreeBytes, Metric::kZeroedBytes,
                                Metric::kFreeFaults, Metric::kFreeNs});
  // To clear what a program leaves behind can be meant; to clear zeros cannot.
  finding.severity = redundant && range.to_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const Point& point = point_nearest(range, finding.named_bytes);
  const std::string size = format_size(point.size_bytes);
  const std::string ratio = peer_words(fastest_peer(subject, point, operation_ns));
  if (redundant) {
    const std::string bytes = bytes_words(point, Metric::kRedundantZeroedInFreeBytes);
    finding.title =
        fmt::format("free of a {} block writes zeros over what is zero already: {} bytes{}", size, bytes, ratio);
    finding.sentence =
        fmt::format("At {}, each free writes zeros over a block that is zero: at {} {} redundant bytes a call{}.",
                    range_text(range.from_bytes, range.to_bytes), size, bytes, ratio);
    return finding;
  }
  const std::string bytes = bytes_words(point, Metric::kZeroedInFreeBytes);
  finding.title = fmt::format("free of a {} block clears what the program wrote: {} bytes{}", size, bytes, ratio);
  finding.sentence = fmt::format(
      "At {}, each free writes zeros over the block, whether or not it is asked for again: at {} {} bytes a call{}.",
      range_text(range.from_bytes, range.to_bytes), size, bytes, ratio);
  return finding;
}

std::vector<Finding> find_zeroing_in_free(const FindingSubject& subject) {
  const std::vector<const Point*> points = plain_loops(subject);
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, clears_zeros)))
    found.push_back(zeroing_in_free_finding(subject, range, true));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, clears_contents)))
    found.push_back(zeroing_in_free_finding(subject, range, false));
  return found;
}

const FindingRule zeroing_in_free_rule("zeroing-in-free", "zeros written by free", {"time", "free_ns"},
                                       find_zeroing_in_free);

}  // namespace
}  // namespace zerotax::findings
