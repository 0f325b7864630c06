// calloc handed out a block at an address that no object of every type may have: a promise broken, in whatever case.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"
#include "base/size.h"

namespace zerotax {
namespace {

bool is_misaligned(const Json& point) {
  const auto violations = point.find("violations");
  return violations != point.end() &&
         std::find(violations->begin(), violations->end(), "misaligned") != violations->end();
}

std::vector<Finding> find(const FindingSubject& subject) {
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    if (point->at("status") == "ok" || is_misaligned(*point)) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, is_misaligned)) {
    Finding finding = finding_of("misaligned", range, {});
    for (Json& entry : finding.evidence) entry["figures"]["violations"] = 1;
    finding.severity = Severity::kHigh;
    const Json& point = point_nearest(range, finding.named_bytes);
    finding.title =
        fmt::format("calloc({}) hands out a block that is not aligned for every type", format_size(size_of(point)));
    finding.sentence = fmt::format("At {}, {}.", range_text(range.from_bytes, range.to_bytes),
                                   text_field(point, "reason", "calloc handed out a misaligned block"));
    found.push_back(std::move(finding));
  }
  return found;
}

const FindingRule rule("misaligned", "blocks from calloc that are not aligned for every type", find);

}  // namespace
}  // namespace zerotax
