#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "compare/crossover.h"
#include "run/point_run.h"

namespace zerotax::compare {

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
