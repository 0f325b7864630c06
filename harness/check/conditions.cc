#include "judge/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/result.h"

namespace zerotax::check {
namespace {

/// A condition, and what it can change. The model of the CPU is for readers: it changes times only.
struct Condition : ConditionRow {
  std::vector<Metric> metrics;  ///< that depend on it; empty: all
  const char* what;
};

const std::vector<Condition>& conditions() {
  using enum Metric;
  static const std::vector<Metric> of_pages{
      kPopulatedBytes, kRedundantZeroedBytes, kCallocFaults,  kTouchFaults,
      kFreeFaults,     kKernelZeroedBytes,    kReturnedBytes, kRedundantZeroedInFreeBytes};
  static const std::vector<Condition> all{
      {{"kernel", "kernel"}, {}, "what mmap, madvise and page faults do"},
      {{"thp", "transparent huge pages"}, of_pages, "faults, and what a fault populates"},
      {{"page_bytes", "page size"}, {}, "all that is counted in pages"},
      {{"cpus", "CPUs"}, {}, "how many arenas and caches an allocator makes"},
      {{"libc", "C library"}, {}, "what allocators take from the C library"},
      {{"pagemap_scan", "PAGEMAP_SCAN"}, of_pages, "how exactly populated pages are seen"},
      {{"zerotax", "zerotax"}, {}, "how metrics are measured"}};
  return all;
}

bool explains(const Condition& condition, const std::vector<BaselineChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const BaselineChange& change) {
    if (change.kind == ChangeKind::kThreshold || condition.metrics.empty()) return true;
    return change.metric &&
           std::find(condition.metrics.begin(), condition.metrics.end(), *change.metric) != condition.metrics.end();
  });
}

}  // namespace

std::vector<ConditionDifference> differing_conditions(const Json& before, const Json& after,
                                                      const std::vector<BaselineChange>& changes) {
  std::vector<ConditionDifference> found;
  for (const Condition& condition : conditions()) {
    for (ConditionDifference& each : zerotax::differing_conditions({condition}, before, after)) {
      each.may_explain = each.before != "unknown" && each.after != "unknown" && explains(condition, changes);
      each.sentence += each.may_explain ? fmt::format("; it changes {}.", condition.what) : ".";
      found.push_back(std::move(each));
    }
  }
  return found;
}

}  // namespace zerotax::check
