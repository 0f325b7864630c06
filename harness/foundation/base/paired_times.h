#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"

namespace zerotax {

/// How differences of time are judged (docs/compare.md).
struct CompareMethod {
  double alpha =
      0.005;           ///< share of comparisons of equals that may show any difference of time, at all points together
  double band = 0.05;  ///< a smaller relative difference does not count, however well it is proven
  double floor_ns = 40;  ///< nor does a smaller absolute one: two readings of the clock (docs/method.md)
  double same = 0.10;    ///< SAME wants the 95 % interval to lie within this relative difference
  std::uint64_t seed = 20'161'212;
};

/// What the pairs of processes of one point say of NEW against OLD. Ratios are logarithms of NEW / OLD.
struct TimeVerdict {
  enum class Kind {
    kUnknown,  ///< no pairs, or too few
    kSame,
    kFaster,
    kSlower,
    kAmbiguous,
  };
  Kind kind = Kind::kUnknown;
  double log_ratio = 0;  ///< Hodges and Lehmann's estimate
  double band = 0;  ///< the noise band of this point, as a logarithm: of the relative and the absolute one the wider
  double p = 1;     ///< of Wilcoxon's signed-rank test, two-sided, exact
  double adjusted_p = 1;    ///< by Holm (1979)
  double level = 0;         ///< of `interval`: 1 - alpha over the number of points left at its step of Holm's method
  Interval interval{0, 0};  ///< corrected
  Interval interval95{0, 0};
};

/// NEW to OLD, no logarithms: the estimate, and its 95 % interval.
struct TimeRatio {
  double median = 0;
  double low = 0;
  double high = 0;
};
TimeRatio ratio_of(const TimeVerdict& verdict);
/// "0.2 times; 0.19 to 0.21".
std::string words_of(const TimeRatio& ratio);

/// "FASTER", "SLOWER", "SAME"; "AMBIGUOUS" of all else.
const char* word_of(TimeVerdict::Kind kind);

/// The pairs of one point.
struct TimeSample {
  std::vector<double> log_ratios;  ///< ln(NEW / OLD), one of each pair; empty: not measured
  double old_ns = 0;               ///< median of OLD's processes
};

/// Judges all points of a comparison together, since what is corrected is their number.
std::vector<TimeVerdict> judge_times(const std::vector<TimeSample>& samples, const CompareMethod& method = {});

/// Pairs a point needs so that a difference can be proven at all beside `points` - 1 others.
std::size_t fewest_pairs(std::size_t points, double alpha);

/// Exchanges OLD and NEW within pairs at random, in all pairs of all points, and judges, `times` times: the share of
/// these in which any point came out FASTER or SLOWER, 0 to 1. Nothing if there are no pairs. As who of a pair went
/// first was decided by a coin, that is what a comparison of equals would have given with this very noise.
std::optional<double> false_alarm_rate(const std::vector<TimeSample>& samples, std::size_t times,
                                       const CompareMethod& method = {});

}  // namespace zerotax
