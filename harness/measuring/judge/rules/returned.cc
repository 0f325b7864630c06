#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "os/page.h"
#include "point/typed_point.h"

// Pages that a program has written are returned to the kernel with every free, or with the next calloc, and then
// faulted in again. In a loop, returning the pages gains nothing.

namespace zerotax {
namespace {

/// The system call that returns pages to the kernel, and the function that makes this call in the steady state.
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
  // Faults on populated pages copy these pages, as after a fork, so nothing was returned. Older runs do not record
  // which faults copy.
  const auto refilled = point.evident_count(Metric::kTouchPopulatedBytes);
  const std::uint64_t in_calloc = point.evident_count(Metric::kPopulatedBytes).value_or(0);
  if (refilled && !is_much(*refilled + in_calloc, touched * point.page_bytes())) return Way::kNone;
  // If calloc wrote needless zeros, its stores took the faults. Another rule reports needless zeros.
  const auto redundant = redundant_calls(point);
  if (!redundant || !redundant->empty()) return Way::kNone;
  if (calls(point, Metric::kFreeSyscalls, "munmap")) return Way::kUnmapped;
  if (calls(point, Metric::kCallocSyscalls, "madvise")) return Way::kPurgedInCalloc;
  if (calls(point, Metric::kFreeSyscalls, "madvise")) return Way::kPurgedInFree;
  return Way::kOther;
}

/// A way in which an allocator returns pages, with the severity for big blocks. Documentation of mmap thresholds says
/// that the mapping of a single block is unmapped, so the severity of kUnmapped is low.
struct WayWords {
  Way way;
  Severity big;
  const char* words;
};
constexpr std::array<WayWords, 4> kWays{
    {{Way::kPurgedInCalloc, Severity::kMedium, "each calloc purges the block that it hands out again"},
     {Way::kPurgedInFree, Severity::kMedium, "each free purges the block that the next calloc hands out again"},
     {Way::kUnmapped, Severity::kLow, "each free unmaps the block, and the next calloc maps it anew"},
     {Way::kOther, Severity::kMedium, "the pages are no longer populated at the next call"}}};

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

// A service frees its buffers together and needs them again at once (the case refill_loop). The allocator returns the
// freed buffers to the kernel, and the kernel zeroes the same memory again in each round.

namespace zerotax {
namespace {

/// Ratios to the time of the fastest peer. The severity is medium from kMedium on, and high from kHigh on.
constexpr double kMedium = 2;
constexpr double kHigh = 10;

/// Bytes that a round writes to; no value if they were not measured.
std::optional<std::uint64_t> used_bytes(const Point& point) {
  const auto requested = point.count(Metric::kRequestedBytes);
  if (!requested) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(*requested) * point.touch));
}

bool refills_most(const Point& point) {
  const auto used = used_bytes(point);
  const auto refilled = point.count(Metric::kRefilledBytes);
  return point.is_ok() && used && *used > 0 && refilled && is_much(*refilled, *used);
}

/// The system call, such as "munmap", that returned the most bytes.
std::string mechanism_words(const Point& point) {
  std::pair<std::uint64_t, const char*> most{0, "a thread of the allocator"};
  for (const auto& [metric, words] : {std::pair{Metric::kReturnedByMunmapBytes, "munmap"},
                                      {Metric::kReturnedByMadviseBytes, "madvise"},
                                      {Metric::kReturnedByBrkBytes, "brk"}}) {
    most = std::max(most, {point.count(metric).value_or(0), words});
  }
  return most.second;
}

Severity severity_of(const std::vector<const Point*>& points, const FindingSubject& subject) {
  Severity severity = Severity::kLow;
  for (const Point* point : points) {
    const auto peer = fastest_peer(subject, *point, operation_ns(*point), operation_ns);
    // Without another allocator, nothing shows that a round can cost less.
    const double ratio = peer ? peer->ratio : 1;
    severity = std::max(severity, ratio >= kHigh     ? Severity::kHigh
                                  : ratio >= kMedium ? Severity::kMedium
                                                     : Severity::kLow);
  }
  return severity;
}

std::vector<Finding> find_refill_storm(const FindingSubject& subject) {
  const auto points =
      points_that(subject, [](const Point& point) { return point.case_name == "refill_loop" && point.touch > 0; });
  const auto slots = [&](const Point& point, const FiringRange&) {
    const std::uint64_t refilled = *point.count(Metric::kRefilledBytes);
    const auto faults = operation_faults(point);
    return Slots{{"refilled", format_size(refilled)},
                 {"mechanism", mechanism_words(point)},
                 {"bytes", format_count(refilled)},
                 {"share", format_percent(static_cast<double>(refilled) / static_cast<double>(*used_bytes(point)))},
                 {"faults", faults ? fmt::format(", in {} page faults", format_count(*faults)) : ""},
                 {"peer", peer_words(subject, point, operation_ns)}};
  };
  const FindingKind kind{
      "refill-storm",
      {Metric::kRequestedBytes, Metric::kKernelZeroedBytes, Metric::kRefilledBytes, Metric::kReturnedBytes,
       Metric::kReturnedByMunmapBytes, Metric::kReturnedByMadviseBytes, Metric::kReturnedByBrkBytes,
       Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults, Metric::kCallocNs, Metric::kTouchNs,
       Metric::kFreeNs},
      refills_most,
      {Severity::kLow, Severity::kLow},
      "buffers of {size} that are freed together are returned and zeroed again in each round: {refilled} "
      "refilled{peer}",
      "At {sizes}, a program that mallocs 8 buffers, fills them and frees them all, again and again, has its memory "
      "returned to the kernel by {mechanism} in each round, and zeroed again by the kernel in the next: at {size} "
      "{bytes} bytes a round, {share} of what it uses{faults}{peer}.",
      slots};
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, refills_most)) {
    found.push_back(finding_of(kind, range));
    found.back().severity = severity_of(range.points, subject);
  }
  return found;
}

const FindingRule refill_storm_rule("refill-storm",
                                    "buffers freed together are returned, and zeroed again in each round",
                                    {"faults", "whole_faults"}, find_refill_storm);

}  // namespace

}  // namespace zerotax

// With transparent huge pages, a store into one byte populates 2 MiB, which the kernel zeroes. After free, memory of a
// partly free huge page may stay, although small pages would be returned. Both findings compare the memory that the
// process holds with and without huge pages.

namespace zerotax {
namespace {

/// Smallest difference in bytes held that is a finding. A smaller difference is the allocator's own pages.
constexpr std::uint64_t kMuch = std::uint64_t{1} << 20;

/// Bytes by which the metric `with` exceeds `without`.
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
                   "with huge pages, a process with one block of {size} holds {more} more",
                   "At {sizes}, the kernel populates and zeroes whole huge pages: with a block of {size} the process "
                   "holds {held}, and {small} without huge pages.");
}

std::vector<Finding> find_outliving(const FindingSubject& subject) {
  return find_kind(subject, "huge-pages-outlive-free", Metric::kHeldAfterFreeBytes,
                   Metric::kHeldAfterFreeWithoutHugeBytes,
                   "after free of a block of {size}, huge pages keep {more} more",
                   "At {sizes}, memory in huge pages stays after free: the process holds {held} (block of {size}), and "
                   "{small} without huge pages.");
}

const FindingRule zeroing_rule("huge-page-zeroing",
                               "memory that the kernel zeroes because it populates whole huge pages", {"bytes"},
                               find_zeroing);
const FindingRule outliving_rule("huge-pages-outlive-free", "memory in huge pages that free keeps", {"bytes"},
                                 find_outliving);

}  // namespace

}  // namespace zerotax
