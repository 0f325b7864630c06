#include "judge/tax.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "judge/judgement.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

void add_costs(const Point& point, PointTax& verdict) {
  verdict.calls = redundant_calls(point);
  verdict.zeroed_bytes = point.count(Metric::kZeroedBytes);
  verdict.redundant_bytes = point.count(Metric::kRedundantZeroedBytes);
  verdict.first_redundant = first_redundant(point);
  verdict.clears_in_free = clears_in_free(point);
  verdict.needless_in_free = needless_in_free(point);
  verdict.returns = returns_memory(point);
  verdict.calloc_ns = point.number(Metric::kCallocNs);
  verdict.calloc_faults = point.count(Metric::kCallocFaults);
  for (const CallMode& mode : point.timing_modes) {
    if (const auto ns = mode.number(Metric::kCallocNs)) verdict.calloc_ns_modes.push_back(*ns);
  }
  verdict.modes = mode_lines(point);
  verdict.operation_ns = operation_ns(point);
  verdict.operation_faults = operation_faults(point);
  verdict.mb_per_s = point.number(Metric::kMbPerS);
  verdict.fork_ns = point.number(Metric::kForkNs);
}

PointTax verdict_of(const Point& point, std::size_t allocator) {
  PointTax verdict{};
  verdict.allocator = allocator;
  verdict.case_name = point.case_name;
  verdict.size_bytes = point.size_bytes;
  verdict.page_bytes = point.page_bytes();
  verdict.touch = point.touch;
  verdict.thread = point.thread;
  verdict.status = point.status;
  verdict.reason = point.reason.value_or("");
  verdict.first_redundant = verdict.clears_in_free = verdict.needless_in_free = verdict.returns = verdict.slow =
      YesNo::kUnknown;
  verdict.looked_at_free = !point[Metric::kZeroedInFreeBytes].is_absent();
  // The costs of a point whose allocator broke its promise cannot be compared.
  if (point.is_ok()) add_costs(point, verdict);
  return verdict;
}

/// The index of a point's allocator. Adds an allocator that was not seen before.
std::size_t place_of(const Point& point, std::vector<AllocatorTax>& allocators) {
  const std::string label = allocator_label(point);
  const std::string preload = point.preload.value_or("");
  const auto found = std::find_if(allocators.begin(), allocators.end(), [&](const AllocatorTax& one) {
    return one.label == label && one.preload == preload;
  });
  if (found != allocators.end()) return static_cast<std::size_t>(found - allocators.begin());
  AllocatorTax tax;
  tax.allocator = point.allocator;
  tax.version = point.version.word().value_or("");
  tax.preload = preload;
  tax.env = point.env;
  tax.label = label;
  tax.name = point.allocator + settings_words(point.env);
  allocators.push_back(std::move(tax));
  return allocators.size() - 1;
}

/// Adds the preloaded file to the names of builds of the same allocator.
void distinguish_builds(std::vector<AllocatorTax>& allocators) {
  std::map<std::string, int> labels;
  std::map<std::string, int> names;
  for (const AllocatorTax& tax : allocators) {
    ++labels[tax.label];
    ++names[tax.name];
  }
  for (AllocatorTax& tax : allocators) {
    const std::string build =
        fmt::format(" {{{}}}", tax.preload.empty() ? "built in" : tax.preload.substr(tax.preload.rfind('/') + 1));
    if (labels[tax.label] > 1) tax.label += build;
    if (names[tax.name] > 1) tax.build = build;
  }
}

void compare_times(std::vector<PointTax>& points) {
  std::map<std::tuple<std::string, std::uint64_t, double, std::string>, std::vector<PointTax*>> groups;
  for (PointTax& point : points) {
    if (point.calloc_ns) groups[{point.case_name, point.size_bytes, point.touch, point.thread}].push_back(&point);
  }
  for (auto& [key, group] : groups) {
    const PointTax& fastest = **std::min_element(group.begin(), group.end(), [](const auto* one, const auto* other) {
      return *one->calloc_ns < *other->calloc_ns;
    });
    for (PointTax* point : group) {
      const double ns = std::max(*point->calloc_ns, kLeastNs);
      if (group.size() < 2) continue;
      point->fastest = fastest.allocator;
      point->fastest_ns = std::max(*fastest.calloc_ns, kLeastNs);
      point->ratio = ns / *point->fastest_ns;
      point->slow = *point->ratio >= kSlowRatio && ns >= kSlowNs ? YesNo::kYes : YesNo::kNo;
    }
  }
}

/// Joins the answers of several points of one size: yes if any is yes, else unknown if any is unknown.
void merge(YesNo& at_size, YesNo answer) {
  if (at_size == YesNo::kYes || answer == YesNo::kNo) return;
  at_size = answer;
}

using Sizes = std::map<std::uint64_t, YesNo>;

/// Whether a point is worse than another. Compares the ratios to the fastest allocator or, without another allocator,
/// the times of redundant calls.
bool is_worse(const PointTax& one, const PointTax& other) {
  if (one.ratio || other.ratio) return one.ratio.value_or(0) > other.ratio.value_or(0);
  return *one.calls->front().calloc_ns > *other.calls->front().calloc_ns;
}

bool can_be_worst(const PointTax& point) {
  return point.ratio || (point.calls && !point.calls->empty() && point.calls->front().calloc_ns);
}

void compare_workers(const std::vector<PointTax>& points, std::size_t allocator, AllocatorTax& tax) {
  const auto is_counted = [&](const PointTax& point) {
    return point.allocator == allocator && point.case_name == "calloc_loop" && point.redundant_bytes;
  };
  std::map<std::pair<std::uint64_t, double>, std::uint64_t> main;
  for (const PointTax& point : points) {
    if (is_counted(point) && point.thread == "main") main[{point.size_bytes, point.touch}] = *point.redundant_bytes;
  }
  std::set<std::uint64_t> differs;
  for (const PointTax& point : points) {
    const auto found = main.find({point.size_bytes, point.touch});
    if (!is_counted(point) || point.thread != "worker" || found == main.end()) continue;
    ++tax.worker_points;
    const std::uint64_t more = std::max(found->second, *point.redundant_bytes);
    if (more - std::min(found->second, *point.redundant_bytes) > point.page_bytes) differs.insert(point.size_bytes);
  }
  tax.worker_differs.assign(differs.begin(), differs.end());
}

void add_ranges(const std::vector<PointTax>& points, std::size_t allocator, AllocatorTax& tax) {
  Sizes redundant, first, slow, cleared, needless, returns;
  for (std::size_t n = 0; n < points.size(); ++n) {
    const PointTax& point = points[n];
    if (point.allocator != allocator || point.case_name != "calloc_loop" || point.thread != "main") continue;
    const std::uint64_t size = point.size_bytes;
    if (point.looked_at_free) {
      merge(cleared.emplace(size, YesNo::kNo).first->second, point.clears_in_free);
      merge(needless.emplace(size, YesNo::kNo).first->second, point.needless_in_free);
    }
    if (point.touch == 1) merge(returns.emplace(size, YesNo::kNo).first->second, point.returns);
    if (!is_untouched_loop(point)) continue;
    merge(redundant.emplace(size, YesNo::kNo).first->second, point.redundant());
    merge(first.emplace(size, YesNo::kNo).first->second, point.first_redundant);
    merge(slow.emplace(size, YesNo::kNo).first->second, point.slow);
    if (!point.is_ok()) tax.failed.push_back(size);
    if (can_be_worst(point) && (!tax.worst || is_worse(point, points[*tax.worst]))) tax.worst = n;
  }
  tax.redundant = ranges_of(redundant);
  tax.redundant_first = ranges_of(first);
  tax.slow = ranges_of(slow);
  tax.cleared_in_free = ranges_of(cleared);
  tax.needless_in_free = ranges_of(needless);
  tax.returns = ranges_of(returns);
  std::sort(tax.failed.begin(), tax.failed.end());
}

}  // namespace

YesNo PointTax::redundant() const {
  if (!calls) return YesNo::kUnknown;
  return calls->empty() ? YesNo::kNo : YesNo::kYes;
}

bool is_untouched_loop(const PointTax& point) {
  return point.case_name == "calloc_loop" && point.thread == "main" && point.touch == 0;
}

Verdicts find_verdicts(const std::vector<Point>& points) {
  Verdicts verdicts;
  for (const Point& point : points) {
    verdicts.points.push_back(verdict_of(point, place_of(point, verdicts.allocators)));
  }
  distinguish_builds(verdicts.allocators);
  compare_times(verdicts.points);
  for (std::size_t n = 0; n < verdicts.allocators.size(); ++n) {
    add_ranges(verdicts.points, n, verdicts.allocators[n]);
    compare_workers(verdicts.points, n, verdicts.allocators[n]);
  }
  return verdicts;
}

std::optional<Apart> furthest_apart(const Verdicts& verdicts, const std::function<bool(const PointTax&)>& meant,
                                    const PointValue& value, double least) {
  std::map<std::uint64_t, Apart> sizes;
  for (const PointTax& point : verdicts.points) {
    const auto known = meant(point) ? value(point) : std::nullopt;
    if (!known) continue;
    const double number = std::max(*known, least);
    Apart& apart = sizes[point.size_bytes];
    if (apart.least == nullptr || number < apart.low) {
      apart.least = &point;
      apart.low = number;
    }
    if (apart.most == nullptr || number >= apart.high) {
      apart.most = &point;
      apart.high = number;
    }
  }
  std::optional<Apart> furthest;
  for (const auto& [size, apart] : sizes) {
    if (apart.least->allocator == apart.most->allocator) continue;
    if (!furthest || apart.ratio() > furthest->ratio()) furthest = apart;
  }
  return furthest;
}

std::optional<Apart> rates_apart(const Verdicts& verdicts) {
  constexpr double kLeastRate = 1e-6;
  const auto of_case = [](const char* name) {
    return [name](const PointTax& point) { return point.case_name == name && point.touch == 0; };
  };
  const auto rate = [](const PointTax& point) { return point.mb_per_s; };
  const auto by_tls = furthest_apart(verdicts, of_case("recv_buffer"), rate, kLeastRate);
  return by_tls ? by_tls : furthest_apart(verdicts, of_case("recv_buffer_tcp"), rate, kLeastRate);
}

}  // namespace zerotax
