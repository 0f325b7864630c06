// Memory fresh from the kernel is zero. calloc writes zeros over it all the same, and populates it by that.
#include <fmt/format.h>

#include "base/size.h"
#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

bool in_later_calls(const Point& point) { return zeroes_fresh(point) == Answer::kYes; }

bool in_first_call_only(const Point& point) {
  const auto redundant = borne_out(point, of_first(Metric::kRedundantZeroedBytes));
  const auto populated = count_of(point, of_first(Metric::kPopulatedBytes));
  return !in_later_calls(point) && redundant && populated && is_much(*redundant, point.size_bytes) &&
         is_much(*populated, point.size_bytes);
}

std::string faults_words(std::optional<std::uint64_t> faults) {
  return faults ? format_count(*faults) + " page faults" : "page faults that were not counted";
}

std::optional<double> first_calloc_ns(const Point& point) {
  const auto ns = count_of(point, of_first(Metric::kCallocNs));
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

Slots later_slots(const FindingSubject& subject, const Point& point, const FiringRange& range) {
  const RedundantCalls calls = *fresh_calls(point);
  const bool one = calls.every() || calls.ops == 1;
  const std::string size = format_size(point.size_bytes);
  // A call that the program makes once in its life is not worth a word where it does the same.
  const auto first = borne_out(point, of_first(Metric::kRedundantZeroedBytes));
  const bool spares_first = calls.every() && first && is_little(*first, point.size_bytes);
  // The share is that of one size of the range.
  const std::string at_size = calls.every() || range.from_bytes == range.to_bytes ? "" : fmt::format(" (at {})", size);
  return {{"who", calls.every() ? "every calloc" : fmt::format("{} of {} calls of calloc", calls.ops, calls.of_ops)},
          {"each", which_calls(calls) + (spares_first ? " but the first" : "") + at_size},
          {"zero", one ? "zeroes" : "zero"},
          {"get", one ? "gets" : "get"},
          {"write", one ? "writes" : "write"},
          {"bytes", redundant_words(calls)},
          {"faults", calls.calloc_faults ? ": " + faults_words(calls.calloc_faults) : ""},
          {"and_faults", calls.calloc_faults ? " and " + faults_words(calls.calloc_faults) : ""},
          {"peer", peer_words_of(subject, point, calls)}};
}

Slots first_slots(const FindingSubject& subject, const Point& point) {
  return {{"bytes", bytes_words(point, of_first(Metric::kRedundantZeroedBytes))},
          {"faults", faults_words(count_of(point, of_first(Metric::kCallocFaults)))},
          {"peer", peer_words(subject, point, first_calloc_ns)}};
}

std::vector<Finding> find_redundant_fresh(const FindingSubject& subject) {
  const FindingKind later{
      "redundant-fresh",
      {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes, Metric::kPopulatedBytes, Metric::kCallocFaults,
       Metric::kCallocNs},
      not_on_worker_alone(subject, in_later_calls),
      {Severity::kHigh, Severity::kLow},
      "{who}({size}) {zero} memory fresh from the kernel{faults}{peer}",
      "At {sizes}, {each} {get} fresh memory, which is zero, and {write} zeros over it: at {size} {bytes} redundant "
      "bytes{and_faults} a call{peer}.",
      [&](const Point& point, const FiringRange& range) { return later_slots(subject, point, range); }};
  const FindingKind first{
      "redundant-fresh-first",
      {of_first(Metric::kZeroedBytes), of_first(Metric::kRedundantZeroedBytes), of_first(Metric::kPopulatedBytes),
       of_first(Metric::kCallocFaults), of_first(Metric::kCallocNs)},
      not_on_worker_alone(subject, in_first_call_only),
      {Severity::kLow, Severity::kLow},
      "the first calloc({size}) of a process zeroes memory fresh from the kernel: {faults}{peer}",
      "At {sizes}, the first calloc of a process gets fresh memory, which is zero, and writes zeros over it: at {size} "
      "{bytes} redundant bytes and {faults}{peer}.",
      [&](const Point& point, const FiringRange&) { return first_slots(subject, point); },
      ShownIn{"bytes", "first_redundant"}};
  return find_kinds({later, first}, plain_loops(subject));
}

const FindingRule redundant_fresh_rule("redundant-fresh", "zeros written over memory fresh from the kernel",
                                       {"heat", "redundant"}, find_redundant_fresh);

}  // namespace
}  // namespace zerotax
