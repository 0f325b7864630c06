// calloc handed out memory that was not zero: a promise broken, in whatever case.
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

std::vector<Finding> find_not_zero(const FindingSubject& subject) {
  return broken_promise(subject, PointStatus::kNotZero, "not-zero", "memory that is not zero",
                        "calloc handed out a block with a non-zero byte");
}

const FindingRule not_zero_rule("not-zero", "memory handed out by calloc that is not zero", {"time"}, find_not_zero);

}  // namespace
}  // namespace zerotax::findings
