// The first call does not behave like the later ones: a benchmark of one call measures something else than a
// service.
#include <fmt/format.h>

#include "base/units.h"
#include "judge/points.h"
#include "judge/rule.h"

namespace zerotax {
namespace {

using Share = bool (*)(std::uint64_t part, std::uint64_t whole);

/// Whether the first call and the later ones zero such shares of their block needlessly.
bool differ(const Point& point, Share of_first_call, Share of_later) {
  const auto first = borne_out(point, of_first(Metric::kRedundantZeroedBytes));
  const auto later = borne_out(point, Metric::kRedundantZeroedBytes);
  return first && later && of_first_call(*first, point.size_bytes) && of_later(*later, point.size_bytes);
}

/// Which early call took most faults, and how many.
std::pair<std::uint64_t, std::uint64_t> worst_call(const Point& point) {
  std::pair<std::uint64_t, std::uint64_t> worst{1, 0};
  for (const FirstOperation& early : point.first_ops) {
    const std::uint64_t faults = early.evident_count(Metric::kCallocFaults).value_or(0);
    if (faults > worst.second) worst = {early.op, faults};
  }
  return worst;
}

FindingKind kind_of(const FindingSubject& subject, const char* name, Share of_first_call, Share of_later) {
  const auto fires = [=](const Point& point) { return differ(point, of_first_call, of_later); };
  const auto slots = [&](const Point& point, const FiringRange&) {
    const auto [call, faults] = worst_call(point);
    return Slots{{"first", format_count(*count_of(point, of_first(Metric::kRedundantZeroedBytes)))},
                 {"later", format_count(*point.evident_count(Metric::kRedundantZeroedBytes))},
                 {"most", faults == 0 ? ""
                                      : fmt::format("; most page faults of an early call, {}, are in call {}",
                                                    format_count(faults), call)},
                 {"peer", peer_words(subject, point, calloc_ns)}};
  };
  return {name,
          {of_first(Metric::kRedundantZeroedBytes), Metric::kRedundantZeroedBytes, of_first(Metric::kCallocFaults),
           Metric::kCallocFaults, of_first(Metric::kCallocNs), Metric::kCallocNs},
          not_on_worker_alone(subject, fires),
          {Severity::kLow, Severity::kLow},
          "the first calloc({size}) zeroes {first} bytes needlessly, later ones {later}{peer}",
          "At {sizes}, the first call behaves otherwise than the later ones: at {size} it writes {first} redundant "
          "zeros, and later calls {later}{most}.",
          slots};
}

std::vector<Finding> find_first_calls(const FindingSubject& subject) {
  // Where the program writes to its block, later blocks are dirty, and nobody expects them to be like the first.
  const auto points =
      points_that(subject, [](const Point& point) { return is_plain_loop(point) && point.touch == 0.0; });
  return find_kinds({kind_of(subject, "first-calls-differ", is_little, is_much),
                     kind_of(subject, "first-calls-differ-dearer", is_much, is_little)},
                    points);
}

const FindingRule first_calls_rule("first-calls-differ", "first calls that differ from later ones",
                                   {"bytes", "first_redundant"}, find_first_calls);

}  // namespace
}  // namespace zerotax
