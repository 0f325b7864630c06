#include "core/transfer.h"

#include <algorithm>
#include <vector>

#include "base/statistics.h"
#include "core/steady_state.h"

namespace zerotax {
namespace {

bool receives(const PassResult& pass) { return pass.made() && pass.record().receives != 0; }

/// Bytes received by one operation in the steady state, or 0.
std::int64_t received_by_operation(const PassResult& pass) {
  std::vector<std::int64_t> values;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    values.push_back(std::max<std::int64_t>(pass.op(i).received_bytes, 0));
  }
  return values.empty() ? 0 : observed_median(values);
}

/// A figure of the audit for each byte that an operation received.
Json per_received_byte(const PassResult& audit, const Json& figure) {
  if (is_not_available(figure)) return figure;
  const std::int64_t received = received_by_operation(audit);
  if (received == 0) return not_available("the audit pass received nothing");
  return figure.get<double>() / static_cast<double>(received);
}

}  // namespace

std::optional<Json> transfer_json(const Passes& passes, const Json& zeroed_bytes, const Json& redundant_zeroed_bytes) {
  const PassResult& timing = passes.timing;
  if (!receives(timing) && !receives(passes.audit)) return std::nullopt;
  const Transfer found = timing.made() ? timing.record().transfer : Transfer{};
  const std::int64_t received = std::max(received_by_operation(timing), received_by_operation(passes.audit));
  const auto none = [&] {
    return not_available(timing.reason().empty() ? "the timing pass made no loop without meters"
                                                 : "timing pass: " + timing.reason());
  };
  const auto per = [&](std::int64_t amount, double unit, std::int64_t of, double of_unit) -> Json {
    if (found.ops == 0 || of == 0 || amount == kNotMeasured) return none();
    return (static_cast<double>(amount) / unit) / (static_cast<double>(of) / of_unit);
  };
  Json json;
  json["ops"] = found.ops;
  json["received_bytes"] = received > 0 ? Json(received) : not_available("nothing was received");
  json["mb_per_s"] = per(found.received_bytes, 1e6, found.wall_ns, 1e9);
  json["cpu_s_per_gb"] = per(found.cpu_ns, 1e9, found.received_bytes, 1e9);
  json["zeroed_per_received_byte"] = per_received_byte(passes.audit, zeroed_bytes);
  json["redundant_per_received_byte"] = per_received_byte(passes.audit, redundant_zeroed_bytes);
  json["faults_per_mb"] = per(found.faults, 1, found.received_bytes, 1e6);
  return json;
}

}  // namespace zerotax
