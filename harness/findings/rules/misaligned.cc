// calloc handed out a block at an address that no object of every type may have: a promise broken, in whatever case.
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

std::vector<Finding> find_misaligned(const FindingSubject& subject) {
  return broken_promise(subject, PointStatus::kMisaligned, "misaligned", "a block that is not aligned for every type",
                        "calloc handed out a misaligned block");
}

const FindingRule misaligned_rule("misaligned", "blocks from calloc that are not aligned for every type", {"time"},
                                  find_misaligned);

}  // namespace
}  // namespace zerotax::findings
