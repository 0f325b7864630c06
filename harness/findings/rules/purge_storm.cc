// The pages that a program wrote to go back to the kernel with every free, or with the next calloc, and each is faulted
// in again: in a loop, nothing is gained by giving them back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/redundant_calls.h"
#include "findings/rule.h"
#include "os/page.h"

namespace zerotax::findings {
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
  if (refilled && !is_much(*refilled + in_calloc, touched * kPageBytes)) return Way::kNone;
  // Where calloc wrote needless zeros, it took the faults: another rule's.
  const auto redundant = redundant_calls(point);
  if (!redundant || !redundant->empty()) return Way::kNone;
  if (calls(point, Metric::kFreeSyscalls, "munmap")) return Way::kUnmapped;
  if (calls(point, Metric::kCallocSyscalls, "madvise")) return Way::kPurgedInCalloc;
  if (calls(point, Metric::kFreeSyscalls, "madvise")) return Way::kPurgedInFree;
  return Way::kOther;
}

const char* way_words(Way way) {
  switch (way) {
    case Way::kUnmapped:
      return "each free unmaps the block, and the next calloc maps it anew";
    case Way::kPurgedInCalloc:
      return "each calloc purges the block that it hands out again";
    case Way::kPurgedInFree:
      return "each free purges the block that the next calloc hands out again";
    default:
      return "the pages are gone with the next call";
  }
}

Finding purge_storm_finding(const FindingSubject& subject, Way way, const FiringRange& range) {
  Finding finding = finding_of("purge-storm", range,
                               {Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults, Metric::kCallocNs,
                                Metric::kTouchNs, Metric::kFreeNs});
  // A mapping of its own that goes with its block is what mmap thresholds are documented to do.
  finding.severity = way != Way::kUnmapped && range.to_bytes >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const Point& point = point_nearest(range, finding.named_bytes);
  const std::string size = format_size(point.size_bytes);
  const std::string faults = format_count(*operation_faults(point));
  const std::string ratio = peer_words(fastest_peer(subject, point, operation_ns));
  finding.title = fmt::format(
      "pages of a {} block are purged and faulted in again with every calloc and free: {} page "
      "faults a round{}",
      size, faults, ratio);
  finding.sentence = fmt::format(
      "At {}, {}: a program that writes to its block takes a page fault for each page, every time ({} at {}){}.",
      range_text(range.from_bytes, range.to_bytes), way_words(way), faults, size, ratio);
  return finding;
}

std::vector<Finding> find_purge_storm(const FindingSubject& subject) {
  std::vector<const Point*> points;
  for (const Point* point : subject.points) {
    if (is_plain_loop(*point) && point->touch > 0) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const Way way : std::array{Way::kPurgedInCalloc, Way::kPurgedInFree, Way::kUnmapped, Way::kOther}) {
    const auto goes_this_way = [way](const Point& point) { return way_of(point) == way; };
    for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, goes_this_way))) {
      found.push_back(purge_storm_finding(subject, way, range));
    }
  }
  return found;
}

const FindingRule purge_storm_rule("purge-storm", "pages given back and faulted in again with every call",
                                   {"faults", "whole_faults"}, find_purge_storm);

}  // namespace
}  // namespace zerotax::findings
