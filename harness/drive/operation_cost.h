#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"

namespace zerotax {

/// A number under a key, or the median of a spread; nothing if it was not measured.
std::optional<double> figure_in(const Json& figures, const char* key);

// What a whole operation of a measured point took: calloc, touching and free. Touching counts where something is
// touched, and must have been measured there. Nothing if a part was not measured.

/// Nanoseconds in the steady state: the medians of the parts, added.
std::optional<double> operation_ns(const Json& point);

/// Minor faults in the steady state.
std::optional<std::uint64_t> operation_faults(const Json& point);

/// The same of the process's first operation.
std::optional<double> first_operation_ns(const Json& point);
std::optional<std::uint64_t> first_operation_faults(const Json& point);

/// Median of calloc alone in the steady state, nanoseconds.
std::optional<double> calloc_ns(const Json& point);

}  // namespace zerotax
