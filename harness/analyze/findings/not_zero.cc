// calloc handed out memory that was not zero: a promise broken, in whatever case.
#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"

namespace zerotax {
namespace {

std::vector<Finding> find(const FindingSubject& subject) {
  return broken_promise(subject, "not_zero", "not-zero", "memory that is not zero",
                        "calloc handed out a block with a non-zero byte");
}

const FindingRule rule("not-zero", "memory handed out by calloc that is not zero", find);

}  // namespace
}  // namespace zerotax
