// Memory fresh from the kernel is zero. calloc writes zeros over it all the same, and populates it by that.
#include <fmt/format.h>

#include "analyze/finding_points.h"
#include "analyze/finding_rule.h"
#include "analyze/summary.h"
#include "base/size.h"
#include "drive/operation_cost.h"

namespace zerotax {
namespace {

bool zeroes_fresh(std::optional<std::uint64_t> redundant, std::optional<std::uint64_t> populated, std::uint64_t size) {
  return redundant && populated && is_much(*redundant, size) && is_much(*populated, size);
}

bool in_every_call(const Json& point) {
  return zeroes_fresh(count_in(point, "redundant_zeroed_bytes"), count_in(point, "populated_bytes"), size_of(point));
}

bool in_first_call_only(const Json& point) {
  return !in_every_call(point) && zeroes_fresh(count_in(point, "first_redundant_zeroed_bytes"),
                                               count_in(point, "first_populated_bytes"), size_of(point));
}

std::string faults_words(std::optional<std::uint64_t> faults) {
  return faults ? format_count(*faults) + " page faults" : "page faults that were not counted";
}

std::optional<double> first_calloc_ns(const Json& point) {
  const auto ns = count_in(point, "first_calloc_ns");
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

Finding every_call(const FindingSubject& subject, const FiringRange& range) {
  Finding finding =
      finding_of("redundant-fresh", range,
                 {"zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "calloc_faults", "calloc_ns"});
  finding.severity = range.to_bytes >= kBigBlock ? Severity::kHigh : Severity::kLow;
  const Json& point = point_nearest(range, finding.named_bytes);
  const std::string faults = faults_words(count_in(point, "calloc_faults"));
  const std::string ratio = peer_words(fastest_peer(subject, point, calloc_ns));
  finding.title = fmt::format("every calloc({}) zeroes memory fresh from the kernel: {}{}", format_size(size_of(point)),
                              faults, ratio);
  finding.sentence = fmt::format(
      "At {}, each calloc gets fresh memory, which is zero, and writes zeros over it: at {} {} redundant bytes and {} "
      "a "
      "call{}.",
      range_text(range.from_bytes, range.to_bytes), format_size(size_of(point)),
      format_count(*count_in(point, "redundant_zeroed_bytes")), faults, ratio);
  return finding;
}

Finding first_call(const FindingSubject& subject, const FiringRange& range) {
  Finding finding = finding_of("redundant-fresh-first", range,
                               {"first_zeroed_bytes", "first_redundant_zeroed_bytes", "first_populated_bytes",
                                "first_calloc_faults", "first_calloc_ns"});
  finding.severity = Severity::kLow;
  const Json& point = point_nearest(range, finding.named_bytes);
  const std::string faults = faults_words(count_in(point, "first_calloc_faults"));
  const std::string ratio = peer_words(fastest_peer(subject, point, first_calloc_ns));
  finding.title = fmt::format("the first calloc({}) of a process zeroes memory fresh from the kernel: {}{}",
                              format_size(size_of(point)), faults, ratio);
  finding.sentence = fmt::format(
      "At {}, the first calloc of a process gets fresh memory, which is zero, and writes zeros over it: at {} {} "
      "redundant bytes and {}{}.",
      range_text(range.from_bytes, range.to_bytes), format_size(size_of(point)),
      format_count(*count_in(point, "first_redundant_zeroed_bytes")), faults, ratio);
  return finding;
}

std::vector<Finding> find(const FindingSubject& subject) {
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    if (is_plain_loop(*point)) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, in_every_call)))
    found.push_back(every_call(subject, range));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, in_first_call_only)))
    found.push_back(first_call(subject, range));
  return found;
}

const FindingRule rule("redundant-fresh", "zeros written over memory fresh from the kernel", find);

}  // namespace
}  // namespace zerotax
