#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "core/paired_runs.h"
#include "crossover/crossover.h"

namespace zerotax::crossover {

/// Everything that the table is made from.
struct Comparison {
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
  /// Of a log ratio A/B.
  [[nodiscard]] const std::string& cheaper(int sign) const { return sign < 0 ? setup.a.name : setup.b.name; }
};

/// The object of "zerotax.crossover/1" (results/schema/crossover.schema.json).
Json crossover_json(const Comparison& comparison, const Json& environment);

/// At most 80 columns: what was compared, a row for each place, each crossing with its interval, and further ones that
/// may exist.
std::string crossover_text(const Comparison& comparison);

}  // namespace zerotax::crossover
