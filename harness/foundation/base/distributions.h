#pragma once

#include <cstddef>

#include "base/bootstrap.h"

namespace zerotax {

/// The quantile of Student's t distribution that leaves `tail` (above 0, below 1) above it. `degrees_of_freedom` must
/// be above 0, and need not be whole.
double student_quantile(double tail, double degrees_of_freedom);

/// The interval of a probability, 95 %, when `hits` of `trials` happened (Clopper and Pearson, 1934). `hits` must be at
/// most `trials`, and `trials` at least 1.
Interval binomial_interval(std::size_t hits, std::size_t trials);

}  // namespace zerotax
