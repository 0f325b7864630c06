// With transparent huge pages a store into one byte populates, and has the kernel zero, 2 MiB; and what free could give
// back of small pages may stay where a huge page is only in part free. Each is what the process holds beyond what the
// same process holds without huge pages.
#include "base/size.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

/// Less is what the allocator's own pages take anyway.
constexpr std::uint64_t kMuch = std::uint64_t{1} << 20;

/// How much the one metric of the memory held is beyond the other.
std::uint64_t beyond(const Point& point, Metric with, Metric without) {
  const auto held = point.count(with);
  const auto small = point.count(without);
  return held && small && *held > *small ? *held - *small : 0;
}

std::vector<Finding> find_kind(const FindingSubject& subject, const char* name, Metric with, Metric without,
                               const char* title, const char* sentence) {
  const auto more = [with, without](const Point& point) { return beyond(point, with, without); };
  const auto slots = [with, without, more](const Point& point, const FiringRange&) {
    return Slots{{"held", format_size(point.count(with).value_or(0))},
                 {"small", format_size(point.count(without).value_or(0))},
                 {"more", format_size(more(point))}};
  };
  const FindingKind kind{name,
                         {with, Metric::kHeldHugeBytes, without},
                         [more](const Point& point) { return more(point) >= kMuch; },
                         {Severity::kMedium, Severity::kLow},
                         title,
                         sentence,
                         slots};
  return find_kinds({kind}, plain_loops(subject));
}

std::vector<Finding> find_zeroing(const FindingSubject& subject) {
  return find_kind(subject, "huge-page-zeroing", Metric::kHeldBytes, Metric::kHeldWithoutHugeBytes,
                   "with huge pages a process with one block of {size} holds {more} more",
                   "At {sizes}, the kernel populates and zeroes whole huge pages: with a block of {size} the process "
                   "holds {held}, and {small} without huge pages.");
}

std::vector<Finding> find_outliving(const FindingSubject& subject) {
  return find_kind(subject, "huge-pages-outlive-free", Metric::kHeldAfterFreeBytes,
                   Metric::kHeldAfterFreeWithoutHugeBytes,
                   "after free of a block of {size} huge pages keep {more} more",
                   "At {sizes}, memory in huge pages stays after free: the process holds {held} (block of {size}), and "
                   "{small} without huge pages.");
}

const FindingRule zeroing_rule("huge-page-zeroing",
                               "memory that the kernel zeroes because it populates huge pages whole", {"bytes"},
                               find_zeroing);
const FindingRule outliving_rule("huge-pages-outlive-free", "memory in huge pages that free keeps", {"bytes"},
                                 find_outliving);

}  // namespace
}  // namespace zerotax
