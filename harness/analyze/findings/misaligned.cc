// calloc handed out a block at an address that no object of every type may have: a promise broken, in whatever case.
#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"

namespace zerotax {
namespace {

std::vector<Finding> find(const FindingSubject& subject) {
  return broken_promise(subject, "misaligned", "misaligned", "a block that is not aligned for every type",
                        "calloc handed out a misaligned block");
}

const FindingRule rule("misaligned", "blocks from calloc that are not aligned for every type", find);

}  // namespace
}  // namespace zerotax
