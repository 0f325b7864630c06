#pragma once

#include "point/point.h"

namespace zerotax {

/// How zeros were written, by the bits of OpSample::methods; n/a if `zeroed_bytes` are.
MetricValue method_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

/// Whether zeroed bytes are exact: a page that was written to may have been written to in one byte only.
MetricValue bound_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

}  // namespace zerotax
