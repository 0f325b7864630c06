#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/json.h"
#include "base/statistics.h"
#include "run/point_run.h"

namespace zerotax::compare {

/// The costs of two allocators, A and B, at one place of an axis (a size in bytes, or a touched fraction).
struct PairedSample {
  double at;
  std::vector<double> log_ratios;  ///< ln(cost of A / cost of B), one for each pair of processes
};

/// The scale of an axis, on which distances are measured and crossings are interpolated.
enum class Axis {
  kLinear,       ///< touched fractions, including 0: cost grows in proportion to the fraction
  kLogarithmic,  ///< sizes, all above 0
};

/// The verdict on one place of the table.
struct PointVerdict {
  double at;
  double log_ratio;   ///< median over the pairs; A is cheaper if it is below 0
  Interval interval;  ///< confidence interval of log_ratio, by percentile bootstrap
  bool clear;         ///< whether the median exceeds the noise of its neighborhood, corrected for the number of places
};

/// A stretch of the axis on which one allocator is cheaper: from the crossing before to the crossing after.
struct Stretch {
  double from;
  double to;
  int sign;               ///< sign of ln(A / B): -1 if A is cheaper, +1 if B is cheaper, 0 if neither is
  bool clear;             ///< whether at least one place of the stretch is clear
  double log_ratio_from;  ///< median at the first place of the stretch
  double log_ratio_to;
  Interval log_ratios;  ///< smallest and largest median
};

/// A place at which the cheaper allocator changes.
struct Crossing {
  double at;
  Interval interval;        ///< confidence interval by percentile bootstrap; for a jump, the interval includes the
                            ///< whole gap
  Interval bracket;         ///< the nearest clear places on either side, or else the clearest places
  double log_ratio_before;  ///< median at bracket.low
  double log_ratio_after;   ///< median at bracket.high
  double share;             ///< share of the resamples, 0 to 1, in which the two ends of the bracket keep their signs
  bool certain;             ///< whether `share` is at least the confidence level, and the places on both sides are
                            ///< clear
  bool jump;                ///< whether the ratio more than doubles between two neighboring places, so that
                            ///< interpolation is impossible
};

/// Neighboring places inside a stretch at which the other allocator was cheaper, without proof.
struct Dip {
  double from;
  double to;
  double log_ratio;  ///< the median that is farthest from 0
  double share;      ///< share of the resamples in which the median keeps its sign at this place
};

struct Crossover {
  std::vector<PointVerdict> points;
  std::vector<Stretch> stretches;  ///< one more than there are crossings; empty if there are no places
  std::vector<Crossing> crossings;
  std::vector<Dip> dips;  ///< dips whose `share` is at least the confidence level
};

struct CrossoverMethod {
  std::size_t resamples = 2000;
  std::uint64_t seed = 20'161'212;  ///< fixed, so that equal data give equal intervals
  double level = 0.95;
};

/// Finds every crossing of two cost curves from paired observations (docs/compare.md). The samples may be in any order.
/// Throws std::invalid_argument for a sample without pairs, for two samples at one place, and for a place on the
/// logarithmic axis that is not above 0.
Crossover find_crossover(std::vector<PairedSample> samples, Axis axis, const CrossoverMethod& method = {});

/// Returns up to `count` new places inside the bracket of a crossing, ascending. Each new place halves the widest
/// remaining gap, beginning with the gap that contains the crossing.
std::vector<double> refine_bracket(const Crossover& found, const Crossing& crossing, Axis axis, std::size_t count);

/// Two allocators along an axis: sizes, or touched fractions of a block. The table is made from this data.
struct Along {
  PairedSetup setup;
  bool by_touch = false;
  std::uint64_t size_bytes = 0;  ///< fixed size, if the axis is touch
  double touch = 0;              ///< fixed fraction, if the axis is size
  std::vector<PairedPlace> places;
  Crossover found;
  bool whole = true;  ///< false if the run was interrupted

  [[nodiscard]] Axis axis() const { return by_touch ? Axis::kLinear : Axis::kLogarithmic; }
  [[nodiscard]] double at(const PairedPlace& place) const {
    return by_touch ? place.touch : static_cast<double>(place.size_bytes);
  }
  /// Returns whether enough was measured for a verdict.
  [[nodiscard]] bool has_verdict() const { return found.points.size() >= 2; }
  /// Returns the cheaper side. The sign of the log ratio A/B decides.
  [[nodiscard]] const std::string& cheaper(int sign) const { return sign < 0 ? setup.a.name : setup.b.name; }
  /// Returns nullptr if the place is missing.
  [[nodiscard]] const PointVerdict* verdict_at(const PairedPlace& place) const;
};

inline constexpr std::size_t kFewestPairs = 3;

/// Returns the places of these sizes. If touch is the axis, each size has the usual fractions. Throws UsageError for
/// sizes that cannot be measured.
std::vector<PairedPlace> first_places(const Along& along, const std::vector<std::uint64_t>& sizes);

/// Measures pairs at these places, and then inside the brackets of the crossings. Throws MachineError if no place fits
/// into memory.
void measure_along(Along& along, std::vector<PairedPlace> places);

/// Returns a measured place with its unit.
std::string format_at(const Along& along, double at);
/// Returns a sentence such as "crossing at 1.26 MiB (95 % interval 1.19 MiB to 1.31 MiB), in 100 % of the resamples".
std::string crossing_sentence(const Along& along, std::size_t k);
/// Returns why there is no crossing, and which allocator is cheaper.
std::string none_sentence(const Along& along);
std::string dip_sentence(const Along& along, const Dip& dip);

/// Returns the answer on one screen: the crossings, and a row for each stretch between two crossings.
Answer along_answer(const Along& along);

/// Returns the text, at most 80 columns wide: the allocators, a row for each place, each crossing with its interval,
/// and possible further crossings.
std::string along_text(const Along& along);

}  // namespace zerotax::compare
