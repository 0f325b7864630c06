#include "point/transfer.h"

#include <algorithm>
#include <vector>

#include "base/statistics.h"
#include "point/steady_state.h"

namespace zerotax {
namespace {

bool receives(const PassResult& pass) { return pass.made() && pass.samples().receives != 0; }

/// Bytes received by one operation in the steady state, or 0.
std::int64_t received_by_operation(const PassResult& pass) {
  std::vector<std::int64_t> values;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    values.push_back(std::max<std::int64_t>(pass.op(i).received_bytes, 0));
  }
  return values.empty() ? 0 : observed_median(values);
}

/// A figure of the audit for each byte that an operation received.
MetricValue per_received_byte(const PassResult& audit, const MetricValue& figure) {
  if (figure.is_not_available()) return figure;
  const std::int64_t received = received_by_operation(audit);
  if (received == 0) return MetricValue::not_available("the audit pass received nothing");
  return MetricValue::real(*figure.number() / static_cast<double>(received));
}

}  // namespace

void add_transfer(const Passes& passes, Point& point) {
  const PassResult& timing = passes.timing;
  if (!receives(timing) && !receives(passes.audit)) return;
  const Transfer found = timing.made() ? timing.samples().transfer : Transfer{};
  const std::int64_t received = std::max(received_by_operation(timing), received_by_operation(passes.audit));
  const auto none = [&] {
    return MetricValue::not_available(timing.reason().empty() ? "the timing pass made no loop without meters"
                                                              : "timing pass: " + timing.reason());
  };
  const auto per = [&](std::int64_t amount, double unit, std::int64_t of, double of_unit) {
    if (found.ops == 0 || of == 0 || amount == kNotMeasured) return none();
    return MetricValue::real((static_cast<double>(amount) / unit) / (static_cast<double>(of) / of_unit));
  };
  point[Metric::kTransferOps] = MetricValue::whole(found.ops);
  point[Metric::kReceivedBytes] =
      received > 0 ? MetricValue::whole(received) : MetricValue::not_available("nothing was received");
  point[Metric::kMbPerS] = per(found.received_bytes, 1e6, found.wall_ns, 1e9);
  point[Metric::kCpuSPerGb] = per(found.cpu_ns, 1e9, found.received_bytes, 1e9);
  point[Metric::kZeroedPerReceivedByte] = per_received_byte(passes.audit, point[Metric::kZeroedBytes]);
  point[Metric::kRedundantPerReceivedByte] = per_received_byte(passes.audit, point[Metric::kRedundantZeroedBytes]);
  point[Metric::kFaultsPerMb] = per(found.faults, 1, found.received_bytes, 1e6);
}

}  // namespace zerotax
