#pragma once

#include <cstdint>
#include <functional>

#include "point/metric_value.h"
#include "point/point.h"

namespace zerotax {

/// A figure of an operation; kNotMeasured where there is none.
using Figure = std::function<std::int64_t(const OpSample&)>;

/// How many early operations are left out of the steady state: half of them (rounded up), but never more than five, for
/// no known allocator changes behaviour after its fifth call.
std::size_t warm_up_operations(std::size_t ops);

/// `reason`, or the fallback if it is empty.
std::string or_else(const char* reason, const std::string& fallback);

/// Why a pass has no figures at all, or none of a later operation.
std::string why_not(const PassResult& pass, const char* pass_name);

/// Where a sample block says why single operations lack a figure.
using WhyUnseen = char const (SampleBlock::*)[2 * kReasonBytes];

/// A deterministic figure in the steady state, of which every operation must have one: the lower median. n/a with `na`
/// if that is not empty, and with the reason at `unseen` if an operation lacks it.
MetricValue steady_count(const PassResult& pass, const char* pass_name, const Figure& figure, const char* na,
                         WhyUnseen unseen = &SampleBlock::na_unseen);

/// A time in the steady state of the timing pass: median, p05 and p95. `na` is why there is none.
MetricValue steady_time(const PassResult& pass, const Figure& figure, const char* na);

/// A figure of one operation, counted from 0.
MetricValue single_figure(const PassResult& pass, const char* pass_name, std::size_t op, const Figure& figure,
                          const char* na, WhyUnseen unseen = &SampleBlock::na_unseen);

/// How the zeros of the steady state were seen, by OpSample::methods or free_methods: all of their bits.
std::uint32_t steady_methods(const PassResult& audit, std::uint32_t OpSample::*methods);

}  // namespace zerotax
