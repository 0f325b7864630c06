#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::trace {

/// Of times in ns; the variance is of the sample (divided by n - 1). The fields are keys of
/// results/schema/trace.schema.json.
struct Distribution {
  std::uint64_t count = 0;
  Measured<double> total_ns;
  Measured<double> mean_ns;
  Measured<double> variance_ns2;
  Measured<double> min_ns;
  Measured<double> p25_ns;
  Measured<double> median_ns;
  Measured<double> p75_ns;
  Measured<double> p95_ns;
  Measured<double> p99_ns;
  Measured<double> max_ns;
};

/// How many times lie in a class: from_ns <= time < to_ns.
struct HistogramRow {
  double from_ns = 0;
  double to_ns = 0;
  std::uint64_t count = 0;
};

Distribution distribution_of(const std::vector<double>& ns);

/// The classes from the lowest that has any time to the highest, with limits 1, 2, 5, 10, 20, 50 ... ns; the first one
/// begins at 0. Empty without times.
std::vector<HistogramRow> histogram_of(const std::vector<double>& ns);

/// A line with a bar for each class of a histogram, `columns` wide at most; empty for an empty one.
std::string histogram_text(const std::vector<HistogramRow>& histogram, std::size_t columns);

}  // namespace zerotax::trace
