#include "point/point_health.h"

#include <fmt/format.h>

#include <cmath>

namespace zerotax {
namespace {

/// Up to version 0.2 a percentile of equal values could be above them by a rounding error.
bool ascend(double low, double high) { return low <= high + 1e-9 * std::abs(high); }

/// "/fork/fork_ns".
std::string place_of(const MetricRow& row) {
  std::string place;
  for (const char* key : keys_of(row.group)) place += fmt::format("/{}", key);
  return fmt::format("{}/{}", place, row.key);
}

std::string contradiction_here(const MetricValues& values, const std::string& place) {
  const auto zeroed = values.count(Metric::kZeroedBytes);
  const auto redundant = values.count(Metric::kRedundantZeroedBytes);
  if (zeroed && redundant && *redundant > *zeroed) {
    return fmt::format("{}{}: {} is more than all {} ({})", place, place_of(row_of(Metric::kRedundantZeroedBytes)),
                       *redundant, row_of(Metric::kZeroedBytes).key, *zeroed);
  }
  for (const MetricRow& row : metric_rows()) {
    const auto spread = values.spread(row.metric);
    if (!spread || (ascend(spread->p05, spread->median) && ascend(spread->median, spread->p95))) continue;
    return fmt::format("{}{}: p05, median and p95 do not ascend", place, place_of(row));
  }
  return "";
}

}  // namespace

bool is_healthy_status(const std::string& status) {
  const auto known = status_of_word(status);
  return known && is_healthy(*known);
}

std::string contradiction_in(const Point& point) {
  std::string found = contradiction_here(point, "");
  for (std::size_t i = 0; i < point.first_ops.size() && found.empty(); ++i) {
    found = contradiction_here(point.first_ops[i], fmt::format("/first_ops/{}", i));
  }
  return found;
}

}  // namespace zerotax
