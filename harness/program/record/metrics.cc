#include "record/metrics.h"

#include <algorithm>
#include <cmath>

#include "os/page.h"
#include "record/kernel_part.h"

namespace zerotax::record {
namespace {

constexpr const char* kOnlySmall = "only stores of 64 KiB and more are timed and examined, and there were none";
constexpr const char* kNoPages = "the pages could not be examined: no /proc/self/pagemap";

/// Returns the redundant bytes of a row; unavailable if none of the row's bytes was examined.
Count redundant(const ZeroRow& row, const char* why) {
  return known_if(row.bytes == 0 || row.examined_bytes != 0, row.redundant_bytes, why);
}

Zeroing zeroing_of(const ZeroRow& row, const ZeroCost& cost) {
  const bool timed = row.bytes == 0 || cost.bytes != 0;
  const bool has_clock = cost.bytes == 0 || cost.cpu_ns != 0;
  return {row.stores,
          row.bytes,
          redundant(row, cost.bytes == 0 ? kOnlySmall : kNoPages),
          row.examined_bytes,
          known_if(timed, cost.ns, kOnlySmall),
          known_if(timed && has_clock, cost.cpu_ns, has_clock ? kOnlySmall : kNoCpuClock),
          known_if(timed, cost.faults, kOnlySmall),
          cost.bytes};
}

Returned returned_of(const Tally& tally) {
  Returned returned;
  ReturnRow sum{};
  for (std::size_t cause = 0; cause < kReturnCauses; ++cause) {
    for (std::size_t i = 0; i < kMechanisms; ++i) {
      const ReturnRow& row = tally.returned[cause][i];
      if (row.calls == 0) continue;
      sum.add(row);
      returned.rows.push_back({row, static_cast<ReturnCause>(cause), static_cast<Mechanism>(i)});
    }
  }
  returned.calls = sum.calls;
  returned.bytes = sum.bytes;
  returned.cpu_ns = sum.cpu_ns;
  returned.sampled_calls = tally.sampled_returns;
  if (tally.sampled_returns == 0) return returned;
  returned.interval_bytes = returned_interval(tally.small_returns).around(sum.bytes);
  return returned;
}

/// Returns the smallest size of a class. Class kClasses begins above all sizes.
std::uint64_t smallest_of(std::size_t size_class) {
  if (size_class == 0) return 0;
  return size_class < kClasses ? std::uint64_t{1} << size_class : ~std::uint64_t{0};
}

}  // namespace

Interval returned_interval(const SmallReturns& small) {
  const std::uint64_t estimated = small.bytes * kSmallGroup;
  // One call of each group is examined, and each two successive groups give a part of the variance (Cochran, Sampling
  // Techniques, 5A.12: collapsed strata). By the rule of three, at most 3 in n calls are of a kind that does not appear
  // in n samples. A call of such a kind returned between nothing and its whole range.
  const double spread =
      1.96 * kSmallGroup * static_cast<double>(page_bytes()) * std::sqrt(static_cast<double>(small.square_pages));
  const auto half = as_count(spread) + std::uint64_t{3} * kSmallGroup * small.widest_bytes;
  const std::uint64_t most = std::max(small.bytes + small.unlooked_bytes, estimated);
  return {std::min(half, estimated - small.bytes), std::min(half, most - estimated)};
}

LowHigh Interval::around(std::uint64_t bytes) const {
  return std::array{bytes - std::min(bytes, below), bytes + above};
}

ZeroCost zeroing_cost(const Tally& tally) {
  ZeroCost all{};
  for (const ZeroKind kind : {kInCalloc, kInOther, kByHand, kCleared}) all.add(tally.cost[kind]);
  return all;
}

std::uint64_t zeroed_bytes(const Tally& tally) {
  ZeroRow all{};
  for (const ZeroKind kind : {kInCalloc, kInOther, kByHand, kCleared}) all.add(sum_of(tally.zeroed[kind]));
  return all.bytes;
}

Metrics metrics_of(const Tally& tally) {
  Metrics metrics;
  const auto zeroing = [&](ZeroKind kind) { return zeroing_of(sum_of(tally.zeroed[kind]), tally.cost[kind]); };
  const CallRow callocs = sum_of(tally.calls[kCalloc]);
  const CallRow mallocs = sum_of(tally.calls[kMalloc]);
  const CallRow reallocs = sum_of(tally.calls[kRealloc]);
  ZeroRow row = sum_of(tally.zeroed[kInCalloc]);
  ZeroCost cost = tally.cost[kInCalloc];
  row.add(sum_of(tally.zeroed[kInOther]));
  cost.add(tally.cost[kInOther]);
  static_cast<Zeroing&>(metrics) = zeroing_of(row, cost);
  metrics.calloc_calls = callocs.calls;
  metrics.requested_bytes = callocs.bytes;
  metrics.malloc_calls = mallocs.calls;
  metrics.malloc_bytes = mallocs.bytes;
  metrics.realloc_calls = reallocs.calls;
  metrics.realloc_bytes = reallocs.bytes;
  metrics.zeroed_in_calloc_bytes = sum_of(tally.zeroed[kInCalloc]).bytes;
  metrics.by_hand_aligned_bytes = tally.aligned_by_hand_bytes;
  metrics.aligned_bytes = tally.aligned_bytes;
  metrics.trimmed_bytes = tally.trimmed_bytes;
  metrics.by_hand = zeroing(kByHand);
  metrics.by_program = zeroing(kCleared);
  metrics.small_samples = {tally.sampled_stores, tally.sampled_bytes, tally.sampled_redundant_bytes};
  metrics.unseen = {tally.unseen_calls, tally.unseen_bytes};
  metrics.in_free = zeroing(kInFree);
  metrics.free_calls = tally.free_calls;
  metrics.mapping_calls = tally.mapping_calls;
  metrics.returned = returned_of(tally);
  metrics.offered_bytes = tally.offered_bytes;
  metrics.huge_blocks = {tally.huge_blocks, tally.huge_examined_bytes, tally.huge_written_bytes};
  metrics.own_ns = tally.own_ns;
  metrics.own_cpu_ns = tally.own_cpu_ns;
  return metrics;
}

std::vector<SizeRow> histogram_of(const Tally& tally) {
  constexpr const char* kNotExamined = "not examined";
  std::vector<SizeRow> rows;
  for (std::size_t i = 0; i < kClasses; ++i) {
    ZeroRow zeroed = tally.zeroed[kInCalloc][i];
    zeroed.add(tally.zeroed[kInOther][i]);
    const ZeroRow& by_hand = tally.zeroed[kByHand][i];
    const CallRow& callocs = tally.calls[kCalloc][i];
    const std::uint64_t mallocs = tally.calls[kMalloc][i].calls;
    const std::uint64_t reallocs = tally.calls[kRealloc][i].calls;
    const FilledRow& filled = tally.filled[i];
    if (callocs.calls + mallocs + reallocs + zeroed.stores + by_hand.stores + filled.blocks == 0) continue;
    SizeRow& row = rows.emplace_back();
    row.from_bytes = smallest_of(i);
    row.below_bytes = smallest_of(i + 1);
    row.calloc_calls = callocs.calls;
    row.requested_bytes = callocs.bytes;
    row.malloc_calls = mallocs;
    row.realloc_calls = reallocs;
    row.zeroed_bytes = zeroed.bytes;
    row.redundant_zeroed_bytes = redundant(zeroed, kNotExamined);
    row.by_hand_zeroed_bytes = by_hand.bytes;
    row.by_hand_redundant_zeroed_bytes = redundant(by_hand, kNotExamined);
    if (row.from_bytes < kLargeBytes) continue;
    row.unpopulated_blocks = filled.blocks;
    row.kernel_zeroed_bytes = filled.kernel_zeroed_bytes;
    row.refilled_bytes = filled.refilled_bytes;
    row.returned_bytes = filled.returned_bytes;
  }
  return rows;
}

}  // namespace zerotax::record
