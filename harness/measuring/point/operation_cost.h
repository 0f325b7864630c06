#pragma once

#include <cstdint>
#include <optional>

#include "point/typed_point.h"

namespace zerotax {

// What a whole operation of a measured point took: calloc, touching and free. Touching counts where something is
// touched, and must have been measured there. Nothing if a part was not measured.

/// Nanoseconds in the steady state: the medians of the parts, added.
std::optional<double> operation_ns(const Point& point);

/// Minor faults in the steady state.
std::optional<std::uint64_t> operation_faults(const Point& point);

/// The same of the process's first operation.
std::optional<double> first_operation_ns(const Point& point);
std::optional<std::uint64_t> first_operation_faults(const Point& point);

}  // namespace zerotax
