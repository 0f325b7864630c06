#pragma once

#include <functional>
#include <optional>

#include "judge/tax.h"

namespace zerotax {

/// A value of a point, in its own unit; nothing if it was not measured.
using PointValue = std::function<std::optional<double>(const PointTax&)>;

/// The least and the most of a value at one size, and whose they are.
struct Apart {
  const PointTax* least = nullptr;
  const PointTax* most = nullptr;
  double low = 0;
  double high = 0;
  [[nodiscard]] double ratio() const { return high / low; }
};

/// At the size where two allocators are furthest apart, among the points that are `meant`. `least`: what is below it
/// counts as that. Nothing if no size has two allocators.
std::optional<Apart> furthest_apart(const Verdicts& verdicts, const std::function<bool(const PointTax&)>& meant,
                                    const PointValue& value, double least);

/// Rates of receiving in MB/s into untouched buffers: by TLS, or where that was not measured by plain TCP.
std::optional<Apart> rates_apart(const Verdicts& verdicts);

}  // namespace zerotax
