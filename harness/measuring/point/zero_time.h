#pragma once

#include "point/metric_value.h"
#include "point/point.h"

namespace zerotax {

/// A time of zeroing in nanoseconds, and how it was found; both n/a with the reason if it is not known.
struct ZeroTime {
  MetricValue ns;
  MetricValue method;
};

/// Zeroing in calloc in the steady state. `zeroed_bytes` and `calloc_ns`: of the same point. It is that part of
/// calloc_ns which a pass of its own found to be zeroing, so it is never more than calloc_ns, and above 0 only beside
/// zeroed bytes. docs/method.md, "zero_ns".
ZeroTime zero_time(const Passes& passes, const MetricValue& zeroed_bytes, const MetricValue& calloc_ns);

/// The same of free.
ZeroTime zero_in_free_time(const Passes& passes, const MetricValue& zeroed_in_free_bytes, const MetricValue& free_ns);

/// The time of zeroing in the calloc of one operation, counted from 0, of which the audit saw `zeroed_bytes`.
MetricValue zero_time_at(const Passes& passes, std::size_t op, const MetricValue& zeroed_bytes);

}  // namespace zerotax
