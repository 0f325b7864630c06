#pragma once

#include <cstdint>
#include <functional>

#include "point/metric_value.h"
#include "point/point.h"

namespace zerotax {

/// Returns a metric of an operation, or kNotMeasured if there is no such operation.
using Figure = std::function<std::int64_t(const OpSample&)>;

/// Returns how many early operations the steady state excludes: half of them (rounded up), but at most five. No known
/// allocator changes its behavior after its fifth call.
std::size_t warm_up_operations(std::size_t ops);

/// Returns `reason`, or the fallback if `reason` is empty.
std::string or_else(const char* reason, const std::string& fallback);

/// Returns why a pass has no metrics of an operation: the pass was not run, it failed, or it made fewer operations.
std::string why_not(const PassResult& pass, const char* pass_name);

/// A member of the sample block that explains why single operations lack a metric.
using WhyUnseen = char const (SampleBlock::*)[2 * kReasonBytes];

/// Returns the lower median of a deterministic metric in the steady state. If `na` is not empty, returns n/a with that
/// reason. If any operation lacks the metric, returns n/a with the reason at `unseen`.
MetricValue steady_count(const PassResult& pass, const char* pass_name, const Figure& figure, const char* na,
                         WhyUnseen unseen = &SampleBlock::na_unseen);

/// Returns a time in the steady state of the timing pass: median, p05 and p95. `na` is the reason if there is no time.
MetricValue steady_time(const PassResult& pass, const Figure& figure, const char* na);

/// Returns a metric of one operation, counted from 0.
MetricValue single_figure(const PassResult& pass, const char* pass_name, std::size_t op, const Figure& figure,
                          const char* na, WhyUnseen unseen = &SampleBlock::na_unseen);

/// Returns how the zeros of the steady state were seen: the union of the bits of OpSample::methods or free_methods.
std::uint32_t steady_methods(const PassResult& audit, std::uint32_t OpSample::*methods);

}  // namespace zerotax
