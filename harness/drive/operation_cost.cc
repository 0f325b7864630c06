#include "drive/operation_cost.h"

#include <array>

namespace zerotax {
namespace {

constexpr std::array kTimes{"calloc_ns", "touch_ns", "free_ns"};
constexpr std::array kFaults{"calloc_faults", "touch_faults", "free_faults"};

/// `keys`: of calloc, touching and free, in this order.
std::optional<double> sum_of(const Json& figures, const std::array<const char*, 3>& keys, bool touched) {
  double sum = 0;
  for (const char* key : keys) {
    const auto figure = figure_in(figures, key);
    if (!figure && (key != keys[1] || touched)) return std::nullopt;
    sum += figure.value_or(0);
  }
  return sum;
}

std::optional<double> steady(const Json& point, const std::array<const char*, 3>& keys) {
  return sum_of(point, keys, point.at("touch") != 0.0);
}

std::optional<double> first(const Json& point, const std::array<const char*, 3>& keys) {
  const Json& operations = point.at("first_ops");
  if (operations.empty()) return std::nullopt;
  return sum_of(operations.front(), keys, point.at("touch") != 0.0);
}

std::optional<std::uint64_t> count(std::optional<double> figure) {
  if (!figure) return std::nullopt;
  return static_cast<std::uint64_t>(*figure);
}

}  // namespace

std::optional<double> figure_in(const Json& figures, const char* key) {
  const auto found = figures.find(key);
  if (found == figures.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  if (!found->is_object() || !found->contains("median")) return std::nullopt;
  return found->at("median").get<double>();
}

std::optional<double> operation_ns(const Json& point) { return steady(point, kTimes); }

std::optional<std::uint64_t> operation_faults(const Json& point) { return count(steady(point, kFaults)); }

std::optional<double> first_operation_ns(const Json& point) { return first(point, kTimes); }

std::optional<std::uint64_t> first_operation_faults(const Json& point) { return count(first(point, kFaults)); }

std::optional<double> calloc_ns(const Json& point) { return figure_in(point, kTimes[0]); }

}  // namespace zerotax
