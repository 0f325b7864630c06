// A service frees its buffers together and needs them again at once (the case refill_loop). The allocator returns them
// to the kernel in between, and the kernel zeroes the same memory anew in each round.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/points.h"
#include "findings/rule.h"

namespace zerotax::findings {
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
    const auto peer = fastest_peer(subject, *point, operation_ns);
    // Without another allocator, nothing shows that it can be done for less.
    const double ratio = peer ? peer->ratio : 1;
    severity = std::max(severity, ratio >= kHigh     ? Severity::kHigh
                                  : ratio >= kMedium ? Severity::kMedium
                                                     : Severity::kLow);
  }
  return severity;
}

Finding refill_finding(const FindingSubject& subject, const FiringRange& range) {
  Finding finding = finding_of("refill-storm", range,
                               {Metric::kRequestedBytes, Metric::kKernelZeroedBytes, Metric::kRefilledBytes,
                                Metric::kReturnedBytes, Metric::kReturnedByMunmapBytes, Metric::kReturnedByMadviseBytes,
                                Metric::kReturnedByBrkBytes, Metric::kCallocFaults, Metric::kTouchFaults,
                                Metric::kFreeFaults, Metric::kCallocNs, Metric::kTouchNs, Metric::kFreeNs});
  finding.severity = severity_of(range.points, subject);
  const Point& point = point_nearest(range, finding.named_bytes);
  const std::string size = format_size(point.size_bytes);
  const std::uint64_t refilled = *point.count(Metric::kRefilledBytes);
  const std::string share = format_percent(static_cast<double>(refilled) / static_cast<double>(*used_bytes(point)));
  const std::string ratio = peer_words(fastest_peer(subject, point, operation_ns));
  const auto faults = operation_faults(point);
  finding.title =
      fmt::format("buffers of {} that are freed together are returned and zeroed again in each round: {} refilled{}",
                  size, format_size(refilled), ratio);
  finding.sentence = fmt::format(
      "At {}, a program that mallocs 8 buffers, fills them and frees them all, again and again, has its memory "
      "returned to "
      "the kernel by {} in each round, and zeroed again by the kernel in the next: at {} {} bytes a round, {} of what "
      "it "
      "uses{}{}.",
      range_text(range.from_bytes, range.to_bytes), mechanism_words(point), size, format_count(refilled), share,
      faults ? fmt::format(", in {} page faults", format_count(*faults)) : "", ratio);
  return finding;
}

std::vector<Finding> find_refill_storm(const FindingSubject& subject) {
  std::vector<const Point*> points;
  for (const Point* point : subject.points) {
    if (point->case_name == "refill_loop" && point->touch > 0) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, refills_most)) found.push_back(refill_finding(subject, range));
  return found;
}

const FindingRule refill_storm_rule("refill-storm",
                                    "buffers freed together are returned, and zeroed again in each round",
                                    {"faults", "whole_faults"}, find_refill_storm);

}  // namespace
}  // namespace zerotax::findings
