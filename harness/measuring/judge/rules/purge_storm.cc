// The pages that a program wrote to go back to the kernel with every free, or with the next calloc, and each is faulted
// in again: in a loop, nothing is gained by giving them back.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "os/page.h"
#include "point/operation_cost.h"

namespace zerotax {
namespace {

/// How the pages go, by the system calls of the steady state.
enum class Way { kNone, kPurgedInCalloc, kPurgedInFree, kUnmapped, kOther };

bool calls(const Point& point, Metric where, const char* what) {
  const SystemCalls* all = point.calls(where);
  return all != nullptr && std::any_of(all->begin(), all->end(), [&](const auto& call) { return call.first == what; });
}

Way way_of(const Point& point) {
  const double touch = point.touch;
  const auto touched = static_cast<std::uint64_t>(std::ceil(touch * static_cast<double>(pages_of(point))));
  const auto faults = operation_faults(point);
  if (touched == 0 || !faults || !is_much(*faults, touched)) return Way::kNone;
  // Faults on populated pages copy them, as after a fork: nothing was given back. Older runs do not record which.
  const auto refilled = point.evident_count(Metric::kTouchPopulatedBytes);
  const std::uint64_t in_calloc = point.evident_count(Metric::kPopulatedBytes).value_or(0);
  if (refilled && !is_much(*refilled + in_calloc, touched * point.page_bytes())) return Way::kNone;
  // Where calloc wrote needless zeros, it took the faults: another rule's.
  const auto redundant = redundant_calls(point);
  if (!redundant || !redundant->empty()) return Way::kNone;
  if (calls(point, Metric::kFreeSyscalls, "munmap")) return Way::kUnmapped;
  if (calls(point, Metric::kCallocSyscalls, "madvise")) return Way::kPurgedInCalloc;
  if (calls(point, Metric::kFreeSyscalls, "madvise")) return Way::kPurgedInFree;
  return Way::kOther;
}

/// What happens to the pages. An allocator that gives a block a mapping of its own, and unmaps it with the block, does
/// what the documentation of mmap thresholds says.
struct WayWords {
  Way way;
  Severity big;
  const char* words;
};
constexpr std::array<WayWords, 4> kWays{
    {{Way::kPurgedInCalloc, Severity::kMedium, "each calloc purges the block that it hands out again"},
     {Way::kPurgedInFree, Severity::kMedium, "each free purges the block that the next calloc hands out again"},
     {Way::kUnmapped, Severity::kLow, "each free unmaps the block, and the next calloc maps it anew"},
     {Way::kOther, Severity::kMedium, "the pages are gone with the next call"}}};

std::vector<Finding> find_purge_storm(const FindingSubject& subject) {
  const auto points = points_that(subject, [](const Point& point) { return is_plain_loop(point) && point.touch > 0; });
  std::vector<FindingKind> kinds;
  for (const WayWords& each : kWays) {
    const auto slots = [&subject, &each](const Point& point, const FiringRange&) {
      return Slots{{"way", each.words},
                   {"faults", format_count(*operation_faults(point))},
                   {"peer", peer_words(subject, point, operation_ns)}};
    };
    kinds.push_back(
        {"purge-storm",
         {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults, Metric::kCallocNs, Metric::kTouchNs,
          Metric::kFreeNs},
         not_on_worker_alone(subject, [&each](const Point& point) { return way_of(point) == each.way; }),
         {each.big, Severity::kLow},
         "pages of a {size} block are purged and faulted in again with every calloc and free: {faults} page faults a "
         "round{peer}",
         "At {sizes}, {way}: a program that writes to its block takes a page fault for each page, every time ({faults} "
         "at {size}){peer}.",
         slots});
  }
  return find_kinds(kinds, points);
}

const FindingRule purge_storm_rule("purge-storm", "pages given back and faulted in again with every call",
                                   {"faults", "whole_faults"}, find_purge_storm);

}  // namespace
}  // namespace zerotax
