#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/statistics.h"
#include "run/point_run.h"

namespace zerotax::compare {

/// What two allocators, A and B, cost at one place of an axis (a size in bytes, or a touched fraction).
struct PairedSample {
  double at;
  std::vector<double> log_ratios;  ///< ln(cost of A / cost of B), one of each pair of processes
};

/// How distances between places are measured, and so how to interpolate between them.
enum class Axis {
  kLinear,       ///< touched fractions: cost grows in proportion to them, and 0 is one of them
  kLogarithmic,  ///< sizes: all above 0
};

/// One place of the table, as it was judged.
struct PointVerdict {
  double at;
  double log_ratio;   ///< median over the pairs; below 0 A is cheaper
  Interval interval;  ///< of log_ratio, percentile bootstrap
  bool clear;         ///< the median stands out of the noise of its neighbourhood, however many places were looked at
};

/// A stretch of the axis on which one of the two is cheaper: from the crossing before to the crossing after.
struct Stretch {
  double from;
  double to;
  int sign;               ///< of ln(A / B): -1 A is cheaper, +1 B is, 0 neither
  bool clear;             ///< at least one of its places is clear
  double log_ratio_from;  ///< median at its first place, and at its last
  double log_ratio_to;
  Interval log_ratios;  ///< smallest and largest median
};

/// Where one becomes cheaper than the other.
struct Crossing {
  double at;
  Interval interval;        ///< percentile bootstrap; of a jump, the whole gap in which it lies as well
  Interval bracket;         ///< the nearest places on either side that are clear, or else clearest
  double log_ratio_before;  ///< median at bracket.low
  double log_ratio_after;   ///< median at bracket.high
  double share;             ///< of the resamples, 0 to 1: those in which the two ends of the bracket keep their signs
  bool certain;             ///< share is at least the level, and the places on both sides are clear
  bool jump;                ///< the ratio more than doubles between two neighbouring places: it cannot be interpolated
};

/// Neighbouring places inside a stretch at which the other one came out cheaper, without proof.
struct Dip {
  double from;
  double to;
  double log_ratio;  ///< the median farthest from 0
  double share;      ///< of the resamples: those in which that place keeps its sign
};

struct Crossover {
  std::vector<PointVerdict> points;
  std::vector<Stretch> stretches;  ///< one more than crossings; empty if there are no places
  std::vector<Crossing> crossings;
  std::vector<Dip> dips;  ///< only those with a share of at least the level
};

struct CrossoverMethod {
  std::size_t resamples = 2000;
  std::uint64_t seed = 20'161'212;  ///< fixed, so that the same data give the same interval
  double level = 0.95;
};

/// Finds every crossing of two cost curves from paired observations (docs/compare.md). The samples may come in any
/// order. Throws std::invalid_argument for a sample without pairs, for two samples at one place, and for a place of the
/// logarithmic axis that is not above 0.
Crossover find_crossover(std::vector<PairedSample> samples, Axis axis, const CrossoverMethod& method = {});

/// Up to `count` new places inside the bracket of a crossing, ascending: each halves the widest gap that is left,
/// beginning with the gap that the crossing is in.
std::vector<double> refine_bracket(const Crossover& found, const Crossing& crossing, Axis axis, std::size_t count);

/// Two allocators along an axis: sizes, or touched fractions of a block. Everything that the table is made from.
struct Along {
  PairedSetup setup;
  bool by_touch = false;
  std::uint64_t size_bytes = 0;  ///< where it is fixed
  double touch = 0;              ///< where it is fixed
  std::vector<PairedPlace> places;
  Crossover found;
  bool whole = true;  ///< not interrupted

  [[nodiscard]] Axis axis() const { return by_touch ? Axis::kLinear : Axis::kLogarithmic; }
  [[nodiscard]] double at(const PairedPlace& place) const {
    return by_touch ? place.touch : static_cast<double>(place.size_bytes);
  }
  /// Whether enough was measured for a verdict.
  [[nodiscard]] bool has_verdict() const { return found.points.size() >= 2; }
  /// The cheaper side, by the sign of a log ratio A/B.
  [[nodiscard]] const std::string& cheaper(int sign) const { return sign < 0 ? setup.a.name : setup.b.name; }
  /// Null if the place is left out.
  [[nodiscard]] const PointVerdict* verdict_at(const PairedPlace& place) const;
};

inline constexpr std::size_t kFewestPairs = 3;

/// The places of these sizes, each with the usual fractions where those are the axis. Throws UsageError for what cannot
/// be measured.
std::vector<PairedPlace> first_places(const Along& along, const std::vector<std::uint64_t>& sizes);

/// Measures pairs at these places, and again inside the brackets of what was found. Throws MachineError if none fits
/// into memory.
void measure_along(Along& along, std::vector<PairedPlace> places);

/// The object of "zerotax.crossover/1" (results/schema/crossover.schema.json).
Json along_json(const Along& along, const Json& environment);

/// At most 80 columns: what was compared, a row for each place, each crossing with its interval, and further ones that
/// may exist.
std::string along_text(const Along& along);

}  // namespace zerotax::compare
