#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace zerotax {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  // Never beyond either: of equal values every quantile is that value, or percentiles would not ascend.
  return std::lerp(sorted[below], sorted[above], weight);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw std::invalid_argument("quantile of an empty sample");
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, q);
}

Spread spread(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("spread of an empty sample");
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return {sorted_quantile(sorted, 0.5), sorted_quantile(sorted, 0.05), sorted_quantile(sorted, 0.95)};
}

Moments moments(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("moments of an empty sample");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {mean, 0};
  // In two passes: the sum of squares would lose the digits of times that differ little.
  const double squares = std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
  return {mean, squares / (count - 1)};
}

std::int64_t observed_median(std::vector<std::int64_t> values) {
  if (values.empty()) throw std::invalid_argument("median of an empty sample");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace zerotax
