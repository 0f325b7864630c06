// The process ended, stood still or got no memory before its last operation: whatever it did until then, no program can
// use that.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/size.h"
#include "base/units.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

struct Kind {
  const char* name;
  PointStatus status;
  const char* reason;  ///< what the point's reason contains
  const char* title;
};

/// A point may have failed for other reasons, such as a missing server: those are not findings.
constexpr std::array<Kind, 3> kKinds{{{"crash", PointStatus::kCrashed, "", "ends the process"},
                                      {"hang", PointStatus::kTimeout, "", "does not come to an end"},
                                      {"null", PointStatus::kFailed, "calloc returned NULL", "returns NULL"}}};

std::vector<Finding> find_unfinished(const FindingSubject& subject) {
  std::vector<Finding> found;
  for (const Kind& kind : kKinds) {
    const auto fires = [&kind](const Point& point) {
      return point.status == kind.status && point.reason.value_or("").find(kind.reason) != std::string::npos;
    };
    for (const FiringRange& range : firing_ranges(subject.points, fires)) {
      Finding finding = finding_of(kind.name, range, {});
      finding.severity = Severity::kHigh;
      const Point& point = point_nearest(range, finding.named_bytes);
      const std::string size = format_size(point.size_bytes);
      finding.title = fmt::format("{} {}: {}", point.case_name, size, kind.title);
      finding.sentence =
          fmt::format("At {}, {} was not measured to its end ({}): {}.", range_text(range.from_bytes, range.to_bytes),
                      point.case_name, word_of(kind.status), point.reason.value_or("no reason is given"));
      found.push_back(std::move(finding));
    }
  }
  return found;
}

const FindingRule unfinished_rule("unfinished", "the process ended, hung or got NULL before its last operation",
                                  {"time"}, find_unfinished);

}  // namespace
}  // namespace zerotax::findings
