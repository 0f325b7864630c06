#include "point/metrics.h"

namespace zerotax {
namespace {

// The words that metrics.inc uses.
using enum MetricKind;
using enum MetricGroup;
using enum MetricPass;

}  // namespace

const std::array<MetricRow, kMetrics>& metric_rows() {
#define FROM(member) [](const OpSample& op) -> std::int64_t { return op.member; }
#define ZEROTAX_METRIC(name, ...) MetricRow{.metric = Metric::name, __VA_ARGS__},
  static const std::array<MetricRow, kMetrics> rows{
#include "point/metrics.inc"
  };
#undef ZEROTAX_METRIC
#undef FROM
  return rows;
}

}  // namespace zerotax
