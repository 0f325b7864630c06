// Memory fresh from the kernel is zero. calloc writes zeros over it all the same, and populates it by that.
#include <fmt/format.h>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/judgement.h"
#include "findings/points.h"
#include "findings/redundant_calls.h"
#include "findings/rule.h"

namespace zerotax::findings {
namespace {

bool in_later_calls(const Point& point) { return zeroes_fresh(point) == Answer::kYes; }

bool in_first_call_only(const Point& point) {
  const auto redundant = count_of(point, of_first(Metric::kRedundantZeroedBytes));
  const auto populated = count_of(point, of_first(Metric::kPopulatedBytes));
  return !in_later_calls(point) && redundant && populated && is_much(*redundant, point.size_bytes) &&
         is_much(*populated, point.size_bytes);
}

std::string faults_words(std::optional<std::uint64_t> faults) {
  return faults ? format_count(*faults) + " page faults" : "page faults that were not counted";
}

/// Of later calls: a count of the timing pass is given only if it saw such calls.
std::string faults_words(const RedundantCalls& calls) {
  return calls.calloc_faults ? faults_words(calls.calloc_faults) : "calls that the timing pass did not see";
}

std::optional<double> first_calloc_ns(const Point& point) {
  const auto ns = count_of(point, of_first(Metric::kCallocNs));
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

Finding later_calls(const FindingSubject& subject, const FiringRange& range) {
  Finding finding = finding_of("redundant-fresh", range,
                               {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kPopulatedBytes,
                                Metric::kCallocFaults, Metric::kCallocNs});
  finding.severity = range.to_bytes >= kBigBlock ? Severity::kHigh : Severity::kLow;
  const Point& point = point_nearest(range, finding.named_bytes);
  const RedundantCalls calls = *fresh_calls(point);
  const std::string faults = faults_words(calls);
  const std::string size = format_size(point.size_bytes);
  const std::string ratio = peer_words_of(subject, point, calls);
  finding.title =
      fmt::format("{} {} memory fresh from the kernel: {}{}",
                  calls.every() ? fmt::format("every calloc({})", size)
                                : fmt::format("{} of {} calls of calloc({})", calls.ops, calls.of_ops, size),
                  calls.ops == 1 || calls.every() ? "zeroes" : "zero", faults, ratio);
  // The share is that of one size of the range.
  const std::string at_size = range.from_bytes == range.to_bytes ? "" : fmt::format(" (at {})", size);
  const std::string who = fmt::format("{}{} get{}", which_calls(calls), at_size, calls.ops == 1 ? "s" : "");
  finding.sentence = fmt::format(
      "At {}, {} fresh memory, which is zero, and {} zeros over it: at {} {} redundant bytes and {} a call{}.",
      range_text(range.from_bytes, range.to_bytes), calls.every() ? "each calloc gets" : who,
      calls.every() || calls.ops == 1 ? "writes" : "write", size, redundant_words(calls), faults, ratio);
  return finding;
}

Finding first_call(const FindingSubject& subject, const FiringRange& range) {
  Finding finding =
      finding_of("redundant-fresh-first", range,
                 {of_first(Metric::kZeroedBytes), of_first(Metric::kRedundantZeroedBytes),
                  of_first(Metric::kPopulatedBytes), of_first(Metric::kCallocFaults), of_first(Metric::kCallocNs)});
  finding.severity = Severity::kLow;
  finding.shown_in = ShownIn{"bytes", "first_redundant"};
  const Point& point = point_nearest(range, finding.named_bytes);
  const std::string faults = faults_words(count_of(point, of_first(Metric::kCallocFaults)));
  const std::string ratio = peer_words(fastest_peer(subject, point, first_calloc_ns));
  finding.title = fmt::format("the first calloc({}) of a process zeroes memory fresh from the kernel: {}{}",
                              format_size(point.size_bytes), faults, ratio);
  finding.sentence = fmt::format(
      "At {}, the first calloc of a process gets fresh memory, which is zero, and writes zeros over it: at {} {} "
      "redundant bytes and {}{}.",
      range_text(range.from_bytes, range.to_bytes), format_size(point.size_bytes),
      bytes_words(point, of_first(Metric::kRedundantZeroedBytes)), faults, ratio);
  return finding;
}

std::vector<Finding> find_redundant_fresh(const FindingSubject& subject) {
  const std::vector<const Point*> points = plain_loops(subject);
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, in_later_calls)))
    found.push_back(later_calls(subject, range));
  for (const FiringRange& range : firing_ranges(points, not_on_worker_alone(subject, in_first_call_only)))
    found.push_back(first_call(subject, range));
  return found;
}

const FindingRule redundant_fresh_rule("redundant-fresh", "zeros written over memory fresh from the kernel",
                                       {"heat", "redundant"}, find_redundant_fresh);

}  // namespace
}  // namespace zerotax::findings
