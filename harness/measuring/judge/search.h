#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "judge/signature.h"
#include "point/plan.h"

namespace zerotax {

/// A size at which behaviour changes: `at_bytes` is the smallest that behaves as `above`; one byte less behaves as
/// `below`. Where the byte could not be found, `after_bytes` is the largest size known to behave as `below`.
struct Threshold {
  std::uint64_t after_bytes;
  std::uint64_t at_bytes;
  Signature below;
  Signature above;

  bool operator==(const Threshold&) const = default;
  [[nodiscard]] bool exact() const { return at_bytes - after_bytes == 1; }
  /// Later calls change, too, and not the first of a process alone.
  [[nodiscard]] bool is_steady() const { return below.reuse != above.reuse; }
};

struct ThresholdSearch {
  Signature at_from;                  ///< behaviour at the smallest size
  std::vector<Threshold> thresholds;  ///< ascending
  std::vector<std::uint64_t> noisy;   ///< sizes that behaved otherwise when they were probed again
  std::size_t probes = 0;
  std::size_t grid = 0;  ///< of them, on the coarse grid

  /// Whether one of the noisy sizes is beside this threshold.
  [[nodiscard]] bool is_noisy(const Threshold& threshold) const;
  /// It is not to be relied on: another look saw another behaviour, or it changes to and fro.
  [[nodiscard]] bool is_doubtful(const Threshold& threshold) const { return is_noisy(threshold) || !threshold.exact(); }
};

/// Asks an allocator, in a fresh process, how it behaves at a size.
using SignatureProbe = std::function<Signature(std::uint64_t size_bytes)>;

/// Changes that are followed between two neighbours of the grid; any beyond them are reported as one that is not exact.
inline constexpr std::size_t kMostChangesInGap = 4;

/// Finds every size on which the behaviour at grid neighbours depends, to the byte: where neighbours differ, by
/// bisection; a behaviour met on the way that is neither's is asked for again, and if it is there again, followed on
/// both sides. If it is not, the size is noisy, and the gap around it is one threshold that is not exact: bisecting
/// noise would never end. Each side of each exact threshold is probed once more at the end: who answers differently is
/// noisy, too. Unknown zeroing in free is taken to be as at the next smaller size that is otherwise alike,
/// else as at the next larger one: if only that changes where it is not known, the threshold is not exact. A behaviour
/// that begins and ends between two neighbours is not found: refine the grid. `grid` must be ascending and not empty.
/// Probes: the grid, at most log2 of the gap for each change, and the repeats. `likely`: sizes at which to look first,
/// such as the thresholds under another touch or thread: a change that is there takes two probes, one elsewhere at most
/// two more than without.
ThresholdSearch find_thresholds(const std::vector<std::uint64_t>& grid, const SignatureProbe& probe,
                                const std::set<std::uint64_t>& likely = {});

/// Looks for a threshold at each of these sizes (1 byte or more), and nowhere else: two probes each.
ThresholdSearch look_for_thresholds(const std::vector<std::uint64_t>& edges, const SignatureProbe& probe);

}  // namespace zerotax
