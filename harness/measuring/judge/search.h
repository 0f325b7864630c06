#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "judge/signature.h"
#include "point/plan.h"

namespace zerotax {

/// A size at which behavior changes. `at_bytes` is the smallest size that behaves as `above`. `after_bytes` is the
/// largest size known to behave as `below`: one byte less if the threshold is exact.
struct Threshold {
  std::uint64_t after_bytes;
  std::uint64_t at_bytes;
  Signature below;
  Signature above;

  bool operator==(const Threshold&) const = default;
  [[nodiscard]] bool exact() const { return at_bytes - after_bytes == 1; }
  /// Whether later calls change, and not only the first call of a process.
  [[nodiscard]] bool is_steady() const { return below.reuse != above.reuse; }
};

struct ThresholdSearch {
  Signature at_from;                  ///< behavior at the smallest size
  std::vector<Threshold> thresholds;  ///< ascending
  std::vector<std::uint64_t> noisy;   ///< sizes that behaved differently when they were probed again
  std::size_t probes = 0;
  std::size_t grid = 0;  ///< number of probes on the coarse grid

  /// Whether one of the noisy sizes is beside this threshold.
  [[nodiscard]] bool is_noisy(const Threshold& threshold) const;
  /// Whether the threshold is unreliable: a repeated probe saw another behavior, or the threshold is not exact.
  [[nodiscard]] bool is_doubtful(const Threshold& threshold) const { return is_noisy(threshold) || !threshold.exact(); }
};

/// Measures an allocator's behavior at a size, in a fresh process.
using SignatureProbe = std::function<Signature(std::uint64_t size_bytes)>;

/// Largest number of changes that are located between two neighbors of the grid. Further changes between the two are
/// reported as one threshold that is not exact.
inline constexpr std::size_t kMostChangesInGap = 4;

/// Finds, to the byte, every size at which the behavior changes between neighbors of the grid.
/// Bisects the gap between neighbors that behave differently. A size in the gap that behaves like neither neighbor is
/// probed again. If the second probe agrees with the first, the gaps on both sides of this size are searched. Otherwise
/// the size is noisy, and the gap around it becomes one threshold that is not exact, because bisecting noise would
/// never end. At the end, each side of each exact threshold is probed once more; a side that behaves differently is
/// noisy, too.
/// If zeroing in free is unknown at a size, the value of the next smaller size is used, or else the value of the next
/// larger size. Apart from zeroing in free, both sizes must behave the same. If only zeroing in free changes, and is
/// unknown between the two sides, the threshold is not exact. A behavior that begins and ends between two neighbors is
/// not found; refine the grid to find it.
/// `grid` must be ascending and not empty. The search takes a probe for each size of the grid, at most log2 of the gap
/// for each change, and the repeats. `likely` are sizes to probe first, such as the thresholds under another touch or
/// thread. A change at a likely size takes two probes; a change elsewhere takes at most two probes more than without
/// `likely`.
ThresholdSearch find_thresholds(const std::vector<std::uint64_t>& grid, const SignatureProbe& probe,
                                const std::set<std::uint64_t>& likely = {});

/// Looks for thresholds only at these sizes (1 byte or more), with two probes at each.
ThresholdSearch look_for_thresholds(const std::vector<std::uint64_t>& edges, const SignatureProbe& probe);

}  // namespace zerotax
