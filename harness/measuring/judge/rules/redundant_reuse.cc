// A block that nobody wrote to is freed and handed out again: it is zero, and calloc zeroes all of it.
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

std::vector<Finding> find_redundant_reuse(const FindingSubject& subject) {
  const auto fires = [](const Point& point) { return zeroes_reused(point) == Answer::kYes; };
  const auto slots = [&](const Point& point, const FiringRange&) {
    const RedundantCalls calls = *reuse_calls(point);
    return Slots{{"bytes", redundant_words(calls)},
                 {"share", calls.every() ? "" : ", in " + which_calls(calls)},
                 {"peer", peer_words_of(subject, point, calls)}};
  };
  return find_kinds(
      {{"redundant-reuse",
        {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kCallocFaults, Metric::kZeroNs,
         Metric::kCallocNs},
        not_on_worker_alone(subject, fires),
        {Severity::kMedium, Severity::kLow},
        "calloc({size}) zeroes a reused block that nobody wrote to: {bytes} bytes for nothing{share}{peer}",
        "At {sizes}, a freed block that was never written to is zeroed whole when it is handed out again: "
        "at {size} {bytes} redundant bytes a call{share}{peer}.",
        slots}},
      plain_loops(subject));
}

const FindingRule redundant_reuse_rule("redundant-reuse", "zeros written over a reused block that nobody wrote to",
                                       {"heat", "redundant"}, find_redundant_reuse);

}  // namespace
}  // namespace zerotax
