#include "point/operation_cost.h"

#include <array>

namespace zerotax {
namespace {

using Parts = std::array<Metric, 3>;  // of calloc, touching and free
constexpr Parts kTimes{Metric::kCallocNs, Metric::kTouchNs, Metric::kFreeNs};
constexpr Parts kPartFaults{Metric::kCallocFaults, Metric::kTouchFaults, Metric::kFreeFaults};

/// `values`: of the point's steady state or of one operation; nullptr if it has none.
std::optional<double> sum_of(const Point& point, const MetricValues* values, const Parts& parts) {
  if (values == nullptr) return std::nullopt;
  double sum = 0;
  for (const Metric part : parts) {
    const auto number = values->number(part);
    if (!number && (part != parts[1] || point.touch != 0)) return std::nullopt;
    sum += number.value_or(0);
  }
  return sum;
}

std::optional<std::uint64_t> whole(std::optional<double> sum) {
  return sum ? std::optional(static_cast<std::uint64_t>(*sum)) : std::nullopt;
}

}  // namespace

std::optional<double> operation_ns(const Point& point) { return sum_of(point, &point, kTimes); }

std::optional<std::uint64_t> operation_faults(const Point& point) { return whole(sum_of(point, &point, kPartFaults)); }

std::optional<double> first_operation_ns(const Point& point) { return sum_of(point, point.first(), kTimes); }

std::optional<std::uint64_t> first_operation_faults(const Point& point) {
  return whole(sum_of(point, point.first(), kPartFaults));
}

}  // namespace zerotax
