#pragma once

#include "point/point.h"

namespace zerotax {

/// The value of a row that has a source, in the steady state. `touch`: the fraction that the point touches.
MetricValue steady_value(const Passes& passes, const MetricRow& row, double touch);

/// The same of one operation, counted from 0.
MetricValue value_at(const Passes& passes, const MetricRow& row, std::size_t op);

/// Whether the rows of this group are part of a point of these passes: those of a fork if the case forks. A transfer
/// is not of single operations (add_transfer).
bool is_measured_group(const Passes& passes, MetricGroup group);

}  // namespace zerotax
