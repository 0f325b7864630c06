#include <array>

#include "judge/points.h"
#include "judge/rule.h"

// A broken promise, in any case: calloc hands out memory that is not zero, or a block whose address is not aligned for
// every type.

namespace zerotax {
namespace {

struct BrokenPromise {
  const char* name;
  PointStatus violation;
  const char* title;
  const char* reason;  ///< reason shown for a point without a reason of its own
};

std::vector<Finding> find_broken(const FindingSubject& subject, const BrokenPromise& promise) {
  const auto is_broken = [&](const Point& point) { return point.has_violation(promise.violation); };
  const FindingKind kind{promise.name,
                         {},
                         is_broken,
                         {Severity::kHigh, Severity::kHigh},
                         promise.title,
                         "At {sizes}, {reason}.",
                         [&](const Point& point, const FiringRange&) {
                           return Slots{{"reason", point.reason.value_or(promise.reason)}};
                         }};
  auto found =
      find_kinds({kind}, points_that(subject, [&](const Point& point) { return point.is_ok() || is_broken(point); }));
  for (Finding& finding : found) {
    for (EvidencePoint& point : finding.evidence) point.metrics = {{"violations", {std::uint64_t{1}}}};
  }
  return found;
}

std::vector<Finding> find_not_zero(const FindingSubject& subject) {
  return find_broken(subject, {"not-zero", PointStatus::kNotZero, "calloc({size}) hands out memory that is not zero",
                               "calloc handed out a block with a non-zero byte"});
}

std::vector<Finding> find_misaligned(const FindingSubject& subject) {
  return find_broken(subject, {"misaligned", PointStatus::kMisaligned,
                               "calloc({size}) hands out a block that is not aligned for every type",
                               "calloc handed out a misaligned block"});
}

const FindingRule not_zero_rule("not-zero", "memory handed out by calloc that is not zero", {"time"}, find_not_zero);
const FindingRule misaligned_rule("misaligned", "blocks from calloc that are not aligned for every type", {"time"},
                                  find_misaligned);

}  // namespace

}  // namespace zerotax

// The process ended, hung or got no memory before its last operation. No program can use such an allocator, whatever
// the allocator did until then.

namespace zerotax {
namespace {

struct Ending {
  const char* name;
  PointStatus status;
  const char* reason;  ///< text that the point's reason must contain
  const char* title;
};

/// A point may also fail for reasons that are not findings, such as a missing server.
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
                     "At {sizes}, the measurement of {case} did not finish ({status}): {reason}.",
                     slots});
  }
  return find_kinds(kinds, subject.points);
}

const FindingRule unfinished_rule("unfinished", "the process ended, hung or got NULL before its last operation",
                                  {"time"}, find_unfinished);

}  // namespace

}  // namespace zerotax
