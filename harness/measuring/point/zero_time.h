#pragma once

#include "point/metric_value.h"
#include "point/point.h"

namespace zerotax {

/// A time of zeroing in nanoseconds, and how it was found. Both are n/a with the reason if the time is unknown.
struct ZeroTime {
  MetricValue ns;
  MetricValue method;
};

/// Returns the time of zeroing in calloc in the steady state: the part of calloc_ns that a separate pass attributed to
/// zeroing. `zeroed_bytes` and `calloc_ns` must belong to the same point. The time never exceeds calloc_ns, and is
/// above 0 only if there are zeroed bytes. docs/method.md, "zero_ns".
ZeroTime zero_time(const Passes& passes, const MetricValue& zeroed_bytes, const MetricValue& calloc_ns);

/// Returns the time of zeroing in free in the steady state.
ZeroTime zero_in_free_time(const Passes& passes, const MetricValue& zeroed_in_free_bytes, const MetricValue& free_ns);

/// Returns the time of zeroing in the calloc of one operation, counted from 0, in which the audit saw `zeroed_bytes`.
MetricValue zero_time_at(const Passes& passes, std::size_t op, const MetricValue& zeroed_bytes);

}  // namespace zerotax
