#pragma once

#include <string>
#include <vector>

#include "point/typed_point.h"

namespace zerotax {

// Metrics in the words of tables; "n/a" for what was not measured.

/// "0", "20 MiB".
std::string bytes_word(const MetricValues& values, Metric metric);
/// "25,607".
std::string count_word(const MetricValues& values, Metric metric);
/// "1.09 ms": of a spread, its median.
std::string time_word(const MetricValues& values, Metric metric);

/// For a point whose calls are not alike, a line for each kind of call, of the audit and then of the timing pass:
/// "2 of 7 calls: 5,121 page faults, 1.09 ms". Empty if they are alike, or were not compared.
std::vector<std::string> mode_lines(const Point& point);

}  // namespace zerotax
