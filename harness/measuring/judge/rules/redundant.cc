#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "judge/rule.h"
#include "point/typed_point.h"

// Memory fresh from the kernel is zero. calloc nevertheless writes zeros over this memory, and thereby populates it.

namespace zerotax {
namespace {

bool in_later_calls(const Point& point) { return zeroes_fresh(point) == YesNo::kYes; }

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
  // The words mention the first call only if it differs, because a program makes that call only once.
  const auto first = borne_out(point, of_first(Metric::kRedundantZeroedBytes));
  const bool spares_first = calls.every() && first && is_little(*first, point.size_bytes);
  // The share was measured at one size of the range.
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

// A block that was never written to is freed and handed out again. The whole block is zero, but calloc zeroes it again.

namespace zerotax {
namespace {

std::vector<Finding> find_redundant_reuse(const FindingSubject& subject) {
  const auto fires = [](const Point& point) { return zeroes_reused(point) == YesNo::kYes; };
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

// The allocator zeroes more bytes than were requested.

namespace zerotax {
namespace {

double share_beyond(const Point& point) {
  return static_cast<double>(bytes_beyond(point)) / static_cast<double>(point.size_bytes);
}

/// A request that fits its size class exactly leaves no bytes beyond the request to zero, so the affected sizes have
/// gaps. All sizes together are therefore one finding.
std::optional<FiringRange> all_that_fire(const FindingSubject& subject) {
  std::optional<FiringRange> all;
  const bool on_main = std::any_of(subject.points.begin(), subject.points.end(),
                                   [](const Point* point) { return point->thread == "main"; });
  for (const Point* point : subject.points) {
    // The first call of a new thread also zeroes records of the thread, which are not part of the block.
    if (on_main && point->thread != "main") continue;
    if (!is_plain_loop(*point) || zeroes_beyond(*point) != YesNo::kYes) continue;
    if (!all) all = FiringRange{point->size_bytes, point->size_bytes, {}};
    all->from_bytes = std::min(all->from_bytes, point->size_bytes);
    all->to_bytes = std::max(all->to_bytes, point->size_bytes);
    all->points.push_back(point);
  }
  return all;
}

std::vector<Finding> find_zeroing_beyond(const FindingSubject& subject) {
  const auto range = all_that_fire(subject);
  if (!range) return {};
  // Neighboring sizes may fit their size class, so the words describe the size with the largest share.
  const Point& shown = **std::max_element(
      range->points.begin(), range->points.end(),
      [](const Point* one, const Point* other) { return share_beyond(*one) < share_beyond(*other); });
  const Severity severity = bytes_beyond(shown) >= kBigBlock ? Severity::kMedium : Severity::kLow;
  const auto slots = [](const Point& point, const FiringRange&) {
    return Slots{{"times", fmt::format("{:.2f}", 1 + share_beyond(point))},
                 {"bytes", format_count(bytes_beyond(point))},
                 {"percent", fmt::format("{:.0f} %", 100 * share_beyond(point))}};
  };
  return {finding_of(
      {"zeroing-beyond",
       {Metric::kZeroedBytes, of_first(Metric::kZeroedBytes), Metric::kRedundantZeroedBytes, Metric::kCallocNs},
       {},
       {severity, severity},
       "calloc({size}) zeroes {times} times as many bytes as were asked for",
       "At sizes of {sizes}, calloc zeroes beyond the end of the request: at {size} {bytes} bytes more "
       "than asked for, {percent} of the request.",
       slots},
      *range, &shown)};
}

const FindingRule zeroing_beyond_rule("zeroing-beyond", "more bytes zeroed than were asked for", {"bytes", "zeroed"},
                                      find_zeroing_beyond);

}  // namespace

}  // namespace zerotax

// free writes zeros over its block. calloc may then find the block clean. But free clears every block, including blocks
// that are never requested again, or never written to.

namespace zerotax {
namespace {

bool clears_zeros(const Point& point) {
  const auto redundant = borne_out(point, Metric::kRedundantZeroedInFreeBytes);
  return redundant && is_much(*redundant, point.size_bytes);
}

/// Whether free clears the bytes that the program wrote, and little else.
bool clears_contents(const Point& point) {
  const auto zeroed = borne_out(point, Metric::kZeroedInFreeBytes);
  return zeroed && is_much(*zeroed, point.size_bytes) && !clears_zeros(point);
}

/// `redundant` selects zeroing of zeros. Clearing what a program left behind can be intended; clearing zeros cannot.
FindingKind kind_of(const FindingSubject& subject, bool redundant) {
  const Metric bytes = redundant ? Metric::kRedundantZeroedInFreeBytes : Metric::kZeroedInFreeBytes;
  const auto slots = [&subject, bytes](const Point& point, const FiringRange&) {
    return Slots{{"bytes", bytes_words(point, bytes)}, {"peer", peer_words(subject, point, operation_ns)}};
  };
  return {redundant ? "zeroing-in-free-redundant" : "zeroing-in-free",
          {Metric::kZeroedInFreeBytes, Metric::kRedundantZeroedInFreeBytes, Metric::kZeroedBytes, Metric::kFreeFaults,
           Metric::kFreeNs},
          not_on_worker_alone(subject, redundant ? clears_zeros : clears_contents),
          {redundant ? Severity::kMedium : Severity::kLow, Severity::kLow},
          redundant ? "free of a {size} block writes zeros over memory that is already zero: {bytes} bytes{peer}"
                    : "free of a {size} block clears what the program wrote: {bytes} bytes{peer}",
          redundant
              ? "At {sizes}, each free writes zeros over a block that is zero: at {size} {bytes} redundant bytes a "
                "call{peer}."
              : "At {sizes}, each free writes zeros over the block, whether or not it is needed again: at "
                "{size} {bytes} bytes a call{peer}.",
          slots};
}

std::vector<Finding> find_zeroing_in_free(const FindingSubject& subject) {
  return find_kinds({kind_of(subject, true), kind_of(subject, false)}, plain_loops(subject));
}

const FindingRule zeroing_in_free_rule("zeroing-in-free", "zeros written by free", {"time", "free_ns"},
                                       find_zeroing_in_free);

}  // namespace

}  // namespace zerotax
