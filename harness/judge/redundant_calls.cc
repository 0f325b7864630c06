#include "judge/redundant_calls.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "base/units.h"
#include "judge/judgement.h"
#include "judge/points.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// Calls that are alike: how many, and what was measured of them.
struct Alike {
  std::uint64_t ops;
  const MetricValues* values;
};

/// The kinds of calls that a pass saw; where all are alike, one with the point's own values.
std::vector<Alike> kinds_of(const Point& point, const std::vector<CallMode>& modes) {
  if (modes.empty()) return {{1, &point}};
  std::vector<Alike> kinds;
  kinds.reserve(modes.size());
  for (const CallMode& mode : modes) kinds.push_back({mode.ops, &mode});
  return kinds;
}

std::uint64_t ops_of(const std::vector<Alike>& kinds) {
  return std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Alike& kind) { return sum + kind.ops; });
}

/// The calls of the timing pass that got memory of the same sort as those of a mode of the audit; nullptr if it saw
/// none. A huge page takes one fault, so that calls with few faults can have populated as much as those with many: the
/// kind is taken that is as frequent as the mode, `share` of all calls; of two as frequent, that with more faults.
const MetricValues* twin_of(const std::vector<Alike>& timing, double share, std::uint64_t populated, std::uint64_t size,
                            bool fresh) {
  if (timing.size() == 1 && !timing.front().values->evident_count(Metric::kCallocFaults)) {
    return timing.front().values;  // nothing says that it was another
  }
  const auto all = static_cast<double>(ops_of(timing));
  const Alike* twin = nullptr;
  std::tuple<double, double> least;
  for (const Alike& kind : timing) {
    const auto faults = kind.values->evident_count(Metric::kCallocFaults);
    if (!faults) continue;
    const std::uint64_t page = kind.values->page_bytes();
    if (fresh ? !can_have_populated(*faults, populated, page) : is_much(*faults * page, size)) continue;
    const std::tuple rank(std::abs(static_cast<double>(kind.ops) / all - share), -static_cast<double>(*faults));
    if (twin != nullptr && rank >= least) continue;
    twin = &kind;
    least = rank;
  }
  return twin == nullptr ? nullptr : twin->values;
}

}  // namespace

std::optional<std::vector<RedundantCalls>> redundant_calls(const Point& point) {
  const std::uint64_t size = point.size_bytes;
  const std::vector<Alike> audit = kinds_of(point, point.audit_modes);
  const std::vector<Alike> timing = kinds_of(point, point.timing_modes);
  const std::uint64_t all = ops_of(audit);
  std::vector<RedundantCalls> found;
  for (const auto& [ops, values] : audit) {
    const auto redundant = values->evident_count(Metric::kRedundantZeroedBytes);
    if (!redundant) return std::nullopt;
    if (!is_much(*redundant, size)) continue;
    const std::uint64_t populated = values->evident_count(Metric::kPopulatedBytes).value_or(0);
    const bool fresh = is_much(populated, size);
    RedundantCalls calls{fresh ? RedundantKind::kFresh : RedundantKind::kReuse, ops,          all,         *redundant,
                         values->is_upper_bound(Metric::kRedundantZeroedBytes), std::nullopt, std::nullopt};
    const double share = static_cast<double>(ops) / static_cast<double>(all);
    if (const MetricValues* twin = twin_of(timing, share, populated, size, fresh)) {
      calls.calloc_faults = twin->evident_count(Metric::kCallocFaults);
      calls.calloc_ns = twin->number(Metric::kCallocNs);
    }
    // A bound is not enough: the faults of these calls bear it out, or the time of storing zeros.
    const bool known = fresh ? calls.calloc_faults.has_value() : point.number(Metric::kZeroNs).value_or(0) > 0;
    if (calls.at_most && !known) return std::nullopt;
    found.push_back(calls);
  }
  return found;
}

std::string which_calls(const RedundantCalls& calls) {
  return calls.every() ? "each calloc" : fmt::format("{} of {} callocs", calls.ops, calls.of_ops);
}

std::string redundant_words(const RedundantCalls& calls) {
  return bound_words(calls.at_most) + format_count(calls.redundant_bytes);
}

std::string peer_words_of(const FindingSubject& subject, const Point& point, const RedundantCalls& calls) {
  return peer_words(subject, point, calls.calloc_ns, calloc_ns);
}

}  // namespace zerotax
