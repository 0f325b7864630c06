#include "check/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace zerotax::check {
namespace {

/// A condition, and what it can change. The model of the CPU is for readers: it changes times only.
struct Condition {
  const char* key;
  const char* name;
  /// What of an allocator's deterministic metrics depends on it; empty: all of them.
  std::vector<Metric> metrics;
  const char* what;
};

const std::vector<Metric>& of_pages() {
  static const std::vector<Metric> metrics{Metric::kPopulatedBytes, Metric::kRedundantZeroedBytes,
                                           Metric::kCallocFaults,   Metric::kTouchFaults,
                                           Metric::kFreeFaults,     Metric::kKernelZeroedBytes,
                                           Metric::kReturnedBytes,  Metric::kRedundantZeroedInFreeBytes};
  return metrics;
}

const std::vector<Condition>& conditions() {
  static const std::vector<Condition> all{
      {"kernel", "kernel", {}, "what mmap, madvise and page faults do"},
      {"thp", "transparent huge pages", of_pages(), "faults, and what a fault populates"},
      {"page_bytes", "page size", {}, "all that is counted in pages"},
      {"cpus", "CPUs", {}, "how many arenas and caches an allocator makes"},
      {"libc", "C library", {}, "what allocators take from the C library"},
      {"pagemap_scan", "PAGEMAP_SCAN", of_pages(), "how exactly populated pages are seen"},
      {"zerotax", "zerotax", {}, "how metrics are measured"}};
  return all;
}

bool explains(const Condition& condition, const std::vector<BaselineChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const BaselineChange& change) {
    if (change.kind == ChangeKind::kThreshold || condition.metrics.empty()) return true;
    return change.metric &&
           std::find(condition.metrics.begin(), condition.metrics.end(), *change.metric) != condition.metrics.end();
  });
}

std::string condition_words(const Json& measured_on, const char* key) {
  const auto found = measured_on.find(key);
  if (found == measured_on.end() || is_not_available(*found)) return "unknown";
  return found->is_string() ? found->get<std::string>() : json_line(*found);
}

}  // namespace

std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes) {
  std::vector<ConditionDifference> found;
  for (const Condition& condition : conditions()) {
    ConditionDifference difference;
    difference.name = condition.name;
    difference.before = condition_words(before, condition.key);
    difference.after = condition_words(after, condition.key);
    if (difference.before == difference.after) continue;
    const bool known = difference.before != "unknown" && difference.after != "unknown";
    difference.may_explain = known && explains(condition, changes);
    difference.sentence = fmt::format("{}: {} before, {} now{}", condition.name, difference.before, difference.after,
                                      difference.may_explain ? fmt::format("; it changes {}.", condition.what) : ".");
    found.push_back(std::move(difference));
  }
  return found;
}

}  // namespace zerotax::check
