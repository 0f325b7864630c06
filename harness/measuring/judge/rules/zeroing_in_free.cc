// free writes zeros over its block: calloc may then find it clean, but each block is cleared, also those that nobody
// asks for again, or that nobody had written to.
#include "judge/points.h"
#include "judge/rule.h"
#include "point/operation_cost.h"

namespace zerotax {
namespace {

bool clears_zeros(const Point& point) {
  const auto redundant = borne_out(point, Metric::kRedundantZeroedInFreeBytes);
  return redundant && is_much(*redundant, point.size_bytes);
}

/// Free clears the bytes that the program wrote, and little else.
bool clears_contents(const Point& point) {
  const auto zeroed = borne_out(point, Metric::kZeroedInFreeBytes);
  return zeroed && is_much(*zeroed, point.size_bytes) && !clears_zeros(point);
}

/// `redundant`: of zeros. To clear what a program leaves behind can be meant; to clear zeros cannot.
FindingKind kind_of(const FindingSubject& subject, bool redundant) {
  const Metric bytes = redundant ? Metric::kRedundantZeroedInFreeBytes : Metric::kZeroedInFreeBytes;
  const auto slots = [&subject, bytes](const Point& point, const FiringRange&) {
    return Slots{{"bytes", bytes_words(point, bytes)}, {"peer", peer_words(subject, point, operation_ns)}};
  };
  return {redundant ? "zeroing-in-free-redundant" : "zeroing-in-free",
          {Metric::kZeroedInFreeBytes, Metric::kRedundantZeroedInFreeBytes, Metric::kZeroedBytes, Metric::kFreeFaults,
           Metric::kFreeNs},
          not_on_worker_alone(subject, redundant ? clears_zeros : clears_contents),
          {redundant ? Severity::kMedium : Severity::kLow, Severity::kLow},
          redundant ? "free of a {size} block writes zeros over what is zero already: {bytes} bytes{peer}"
                    : "free of a {size} block clears what the program wrote: {bytes} bytes{peer}",
          redundant
              ? "At {sizes}, each free writes zeros over a block that is zero: at {size} {bytes} redundant bytes a "
                "call{peer}."
              : "At {sizes}, each free writes zeros over the block, whether or not it is asked for again: at "
                "{size} {bytes} bytes a call{peer}.",
          slots};
}

std::vector<Finding> find_zeroing_in_free(const FindingSubject& subject) {
  return find_kinds({kind_of(subject, true), kind_of(subject, false)}, plain_loops(subject));
}

const FindingRule zeroing_in_free_rule("zeroing-in-free", "zeros written by free", {"time", "free_ns"},
                                       find_zeroing_in_free);

}  // namespace
}  // namespace zerotax
