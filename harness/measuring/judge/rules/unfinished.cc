// The process ended, stood still or got no memory before its last operation: whatever it did until then, no program can
// use that.
#include <array>

#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

struct Ending {
  const char* name;
  PointStatus status;
  const char* reason;  ///< what the point's reason contains
  const char* title;
};

/// A point may have failed for other reasons, such as a missing server: those are not findings.
constexpr std::array<Ending, 3> kEndings{
    {{"crash", PointStatus::kCrashed, "", "{case} {size}: ends the process"},
     {"hang", PointStatus::kTimeout, "", "{case} {size}: does not come to an end"},
     {"null", PointStatus::kFailed, "calloc returned NULL", "{case} {size}: returns NULL"}}};

std::vector<Finding> find_unfinished(const FindingSubject& subject) {
  std::vector<FindingKind> kinds;
  for (const Ending& ending : kEndings) {
    const auto fires = [&ending](const Point& point) {
      return point.status == ending.status && point.reason.value_or("").find(ending.reason) != std::string::npos;
    };
    const auto slots = [&ending](const Point& point, const FiringRange&) {
      return Slots{{"case", point.case_name},
                   {"status", word_of(ending.status)},
                   {"reason", point.reason.value_or("no reason is given")}};
    };
    kinds.push_back({ending.name,
                     {},
                     fires,
                     {Severity::kHigh, Severity::kHigh},
                     ending.title,
                     "At {sizes}, {case} was not measured to its end ({status}): {reason}.",
                     slots});
  }
  return find_kinds(kinds, subject.points);
}

const FindingRule unfinished_rule("unfinished", "the process ended, hung or got NULL before its last operation",
                                  {"time"}, find_unfinished);

}  // namespace
}  // namespace zerotax
