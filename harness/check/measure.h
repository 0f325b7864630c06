#pragma once

#include <functional>
#include <vector>

#include "check/lasting_changes.h"
#include "point/allocator.h"
#include "run/experiment.h"

namespace zerotax::check {

/// Measures parts of a baseline of one allocator, side by side, with one progress for all of them.
class Measurer {
 public:
  Measurer(const Allocator& allocator, double timeout_s);

  /// Says that a part will be measured `times` times, so that the estimate knows of it before it begins.
  void expect(const BaselinePart& part, const PointTime& time, std::size_t times = 1);
  /// Throws Stop.
  Baseline measure(const BaselinePart& part, const PointTime& time);

 private:
  const Allocator& allocator_;
  double timeout_s_;
  Experiment experiment_;
};

/// A baseline that was just made.
struct NewBaseline {
  Baseline baseline;
  std::vector<Baseline> measured;  ///< what it was made from
};

/// How often `bless` measures what differs from run to run.
inline constexpr std::size_t kRunsOfWhatDiffers = 6;

/// A new baseline of an allocator, to be accepted or not: measured twice with its clock stopped, the second time beside
/// busy threads, and once more with pauses between its calls. If any metric of a point is not the same each time, the
/// point is measured kRunsOfWhatDiffers times, and the baseline holds the range seen (agreed_baseline). by_the_clock
/// names the metrics that change when the clock races. With `sizes`, it has only points of these; `thresholds` says
/// whether thresholds are searched for.
NewBaseline measure_new_baseline(const Allocator& allocator, double timeout_s,
                                 const std::vector<std::uint64_t>& sizes = {}, bool thresholds = true);

/// Throws UsageError for a size of which baselines have no point.
void check_sizes(const std::vector<std::uint64_t>& sizes);

}  // namespace zerotax::check
