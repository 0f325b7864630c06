#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/statistics.h"

namespace zerotax {

struct CompareMethod {
  RESULT("method", "Rules for judging differences in time (docs/compare.md).");
  MEMBER(alpha, "Permitted share of comparisons in which two equal subjects differ in time at any point.", most(1));
  MEMBER(band, "Largest relative difference in time that is not reported, even if it is significant.", most(1));
  MEMBER(floor_ns,
         "Largest difference in time that is not reported, in nanoseconds: the time of two clock readings "
         "(docs/method.md).");
  MEMBER(same, "Relative difference within which the 95 % interval must lie for SAME.", most(1));
  double alpha = 0.005;
  double band = 0.05;
  double floor_ns = 40;
  double same = 0.10;
  std::uint64_t seed = 20'161'212;
};

/// The verdict on one point, from pairs of processes that ran NEW and OLD. Ratios are logarithms of NEW / OLD.
struct TimeVerdict {
  enum class Kind {
    kUnknown,  ///< too few pairs
    kSame,
    kFaster,
    kSlower,
    kAmbiguous,
  };
  Kind kind = Kind::kUnknown;
  double log_ratio = 0;  ///< the Hodges-Lehmann estimate
  double band = 0;  ///< noise band of this point, as a logarithm: the relative band or the absolute band, whichever is
                    ///< wider
  double p = 1;     ///< p-value of Wilcoxon's signed-rank test, two-sided, exact
  double adjusted_p = 1;    ///< p corrected by Holm's method (1979)
  double level = 0;         ///< confidence level of `interval`: 1 - alpha divided by the number of points left at this
                            ///< step of Holm's method
  Interval interval{0, 0};  ///< interval corrected for the number of points
  Interval interval95{0, 0};
};

/// Words of the kinds. kUnknown and kAmbiguous have the same word.
ENUM_WORDS(TimeVerdict::Kind, "AMBIGUOUS", "SAME", "FASTER", "SLOWER", "AMBIGUOUS")
/// Schema rule for the word of a kind.
inline constexpr Limit kTimeWords = one_of("FASTER|SLOWER|SAME|AMBIGUOUS");

struct TimeRatio {
  RESULT("ratio", "Ratio of NEW to OLD: the Hodges-Lehmann estimate with its 95 % interval.");
  FIELD(double, median, "Hodges-Lehmann estimate of the ratio.");
  FIELD(double, low, "Lower end of the ratio's confidence interval.");
  FIELD(double, high, "Upper end of the ratio's confidence interval.");
};
TimeRatio ratio_of(const TimeVerdict& verdict);
/// Returns the ratio and its interval, such as "0.2 times; 0.19 to 0.21".
std::string words_of(const TimeRatio& ratio);

/// The pairs of one point.
struct TimeSample {
  std::vector<double> log_ratios;  ///< ln(NEW / OLD) of each pair; empty if not measured
  double old_ns = 0;               ///< median time of OLD's processes
};

/// Judges all points of a comparison together, because the correction depends on their number.
std::vector<TimeVerdict> judge_times(const std::vector<TimeSample>& samples, const CompareMethod& method = {});

/// Returns how many pairs each point needs before a difference can be proven, in a comparison of `points` points.
std::size_t fewest_pairs(std::size_t points, double alpha);

/// Estimates the share of false alarms, 0 to 1, by `times` permutations. Each permutation exchanges OLD and NEW at
/// random within all pairs of all points, and judges the points. The result is the share of permutations in which any
/// point is FASTER or SLOWER. A coin decided which process of each pair went first. A comparison of equal programs
/// under the same noise would therefore have this share of false alarms. Returns nothing if there are no pairs.
std::optional<double> false_alarm_rate(const std::vector<TimeSample>& samples, std::size_t times,
                                       const CompareMethod& method = {});

}  // namespace zerotax
