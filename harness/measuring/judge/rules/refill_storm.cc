// A service frees its buffers together and needs them again at once (the case refill_loop). The allocator returns them
// to the kernel in between, and the kernel zeroes the same memory again in each round.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "point/operation_cost.h"

namespace zerotax {
namespace {

/// From these on, in times as long as the fastest peer: a round that costs so much is a medium or a high finding.
constexpr double kMedium = 2;
constexpr double kHigh = 10;

/// What a round writes to, in bytes; nothing if that was not measured.
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

/// "munmap", or what returned most.
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
    // Without another allocator, nothing shows that it can be done for less.
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
