#include "judge/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/size.h"
#include "base/units.h"
#include "judge/points.h"
#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

YesNo answer(bool holds) { return holds ? YesNo::kYes : YesNo::kNo; }

/// Whether `calls` finds any calls; unknown if the redundant calls of the point are unknown.
YesNo any_of(const Point& point, std::optional<RedundantCalls> (*calls)(const Point&)) {
  return redundant_calls(point) ? answer(calls(point).has_value()) : YesNo::kUnknown;
}

/// Calls that are alike: their number, and their measured values.
struct Alike {
  std::uint64_t ops;
  const MetricValues* values;
};

/// The kinds of calls that a pass saw. If all calls are alike, the only kind has the point's own values.
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

/// The calls of the timing pass that got the same sort of memory as a mode of the audit; nullptr if there are none.
/// A huge page takes one fault, so calls with few faults can populate as much as calls with many. The result is
/// therefore the kind that is as frequent as the mode (`share` of all calls). Of two equally frequent kinds, the result
/// is the kind with more faults.
const MetricValues* twin_of(const std::vector<Alike>& timing, double share, std::uint64_t populated, std::uint64_t size,
                            bool fresh) {
  if (timing.size() == 1 && !timing.front().values->evident_count(Metric::kCallocFaults)) {
    return timing.front().values;  // nothing suggests that the calls differ
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

bool can_have_populated(std::uint64_t faults, std::uint64_t bytes, std::uint64_t page) {
  return 2 * faults * (bytes < huge_page_of(page) ? page : huge_page_of(page)) >= bytes;
}

bool is_change_of_block(std::uint64_t difference, std::uint64_t size_bytes) {
  constexpr double kPartOfBlock = 0.1;
  return static_cast<double>(difference) > kPartOfBlock * static_cast<double>(size_bytes);
}

bool is_change_of_zeroing(std::uint64_t difference, std::uint64_t size_bytes) {
  constexpr std::uint64_t kMostSlack = 256 * kKiB;
  return difference > kMostSlack || is_change_of_block(difference, size_bytes);
}

YesNo is_much_of(const std::optional<std::uint64_t>& bytes, std::uint64_t size) {
  return bytes ? answer(is_much(*bytes, size)) : YesNo::kUnknown;
}

std::optional<RedundantCalls> fresh_calls(const Point& point) {
  const auto all = redundant_calls(point);
  if (!all) return std::nullopt;
  const auto found =
      std::find_if(all->begin(), all->end(), [](const auto& calls) { return calls.kind == RedundantKind::kFresh; });
  return found == all->end() ? std::nullopt : std::optional(*found);
}

std::optional<RedundantCalls> reuse_calls(const Point& point) {
  const auto all = redundant_calls(point);
  if (!all || all->empty() || all->front().kind != RedundantKind::kReuse) return std::nullopt;
  return std::any_of(all->begin(), all->end(), [](const auto& calls) { return calls.kind == RedundantKind::kFresh; })
             ? std::nullopt
             : std::optional(all->front());
}

YesNo zeroes_fresh(const Point& point) { return any_of(point, fresh_calls); }

YesNo zeroes_reused(const Point& point) { return any_of(point, reuse_calls); }

YesNo first_redundant(const Point& point) {
  if (point.first() == nullptr) return YesNo::kUnknown;
  return is_much_of(borne_out(point, of_first(Metric::kRedundantZeroedBytes)), point.size_bytes);
}

std::uint64_t bytes_beyond(const Point& point) {
  const std::uint64_t zeroed = std::max(point.evident_count(Metric::kZeroedBytes).value_or(0),
                                        count_of(point, of_first(Metric::kZeroedBytes)).value_or(0));
  return zeroed > point.size_bytes ? zeroed - point.size_bytes : 0;
}

YesNo zeroes_beyond(const Point& point) {
  const bool first = point.first() != nullptr && point.first()->is_measured(Metric::kZeroedBytes);
  if (!first && !point.is_measured(Metric::kZeroedBytes)) return YesNo::kUnknown;
  const bool beyond = bytes_beyond(point) >= std::max(point.page_bytes(), point.size_bytes / 16);
  const bool bound =
      point.is_upper_bound(Metric::kZeroedBytes) || (first && point.first()->is_upper_bound(Metric::kZeroedBytes));
  return beyond && bound ? YesNo::kUnknown : answer(beyond);
}

YesNo clears_in_free(const Point& point) {
  return is_much_of(borne_out(point, Metric::kZeroedInFreeBytes), point.size_bytes);
}

YesNo needless_in_free(const Point& point) {
  return is_much_of(borne_out(point, Metric::kRedundantZeroedInFreeBytes), point.size_bytes);
}

YesNo returns_memory(const Point& point) {
  if (point.touch != 1) return YesNo::kUnknown;
  const auto faults = operation_faults(point);
  const SystemCalls* of_free = point.calls(Metric::kFreeSyscalls);
  const SystemCalls* of_calloc = point.calls(Metric::kCallocSyscalls);
  if (!faults || of_free == nullptr || of_calloc == nullptr) return YesNo::kUnknown;
  const auto made = [&](const char* name) {
    return point.calls(Metric::kFreeSyscalls, name).value_or(0) +
           point.calls(Metric::kCallocSyscalls, name).value_or(0);
  };
  const bool can = made("munmap") + made("madvise") + made("brk") > 0;
  return answer(can && can_have_populated(*faults, point.size_bytes, point.page_bytes()));
}

const char* SizeRanges::word() const {
  if (known.empty()) return "unknown";
  if (spans.empty()) return "never";
  const bool all = spans.size() == 1 && spans[0].from == known.front() && spans[0].to == known.back();
  return all && unknown.empty() ? "always" : "some";
}

SizeRanges ranges_of(const std::map<std::uint64_t, YesNo>& sizes) {
  SizeRanges ranges;
  bool held = false;
  for (const auto& [size, answer] : sizes) {
    (answer == YesNo::kUnknown ? ranges.unknown : ranges.known).push_back(size);
    if (answer == YesNo::kYes) {
      if (held) {
        ranges.spans.back().to = size;
      } else {
        ranges.spans.push_back({size, size});
      }
    }
    held = answer == YesNo::kYes;
  }
  return ranges;
}

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
    // An upper bound is not enough. The faults of these calls, or the time of storing zeros, must confirm the bound.
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
