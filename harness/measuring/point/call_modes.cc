#include "point/call_modes.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/statistics.h"
#include "os/page.h"
#include "point/steady_state.h"
#include "point/zeroed_words.h"

namespace zerotax {
namespace {

using Rows = std::vector<const MetricRow*>;

/// The metrics that calls are compared by.
Rows compared_rows(MetricPass pass) {
  Rows rows;
  for (const MetricRow* row : mode_rows(pass)) {
    if (row->source.of != nullptr && row->kind != MetricKind::kTimeSpread) rows.push_back(row);
  }
  return rows;
}

struct Mode {
  const OpSample* example;
  std::vector<double> calloc_ns;
  std::size_t ops = 0;
};

bool is_alike(const OpSample& one, const OpSample& other, const Rows& rows, std::int64_t tolerance) {
  return std::all_of(rows.begin(), rows.end(), [&](const MetricRow* row) {
    return std::abs(row->source.of(one) - row->source.of(other)) <= tolerance;
  });
}

/// Of the steady state; empty if a figure of an operation is missing.
std::vector<Mode> modes_of(const PassResult& pass, const Rows& rows, std::int64_t tolerance) {
  std::vector<Mode> modes;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    const OpSample& op = pass.op(i);
    for (const MetricRow* row : rows) {
      if (row->source.of(op) == kNotMeasured) return {};
    }
    auto found = std::find_if(modes.begin(), modes.end(),
                              [&](const Mode& mode) { return is_alike(*mode.example, op, rows, tolerance); });
    if (found == modes.end()) found = modes.insert(modes.end(), Mode{&op, {}, 0});
    ++found->ops;
    if (op.calloc_ns != kNotMeasured) found->calloc_ns.push_back(static_cast<double>(op.calloc_ns));
  }
  std::stable_sort(modes.begin(), modes.end(), [](const Mode& one, const Mode& other) { return one.ops > other.ops; });
  return modes;
}

std::vector<CallMode> call_modes(const std::vector<Mode>& modes, const Rows& rows, MetricPass pass) {
  if (modes.size() < 2) return {};
  std::size_t ops = 0;
  for (const Mode& mode : modes) ops += mode.ops;
  std::vector<CallMode> list;
  for (const Mode& mode : modes) {
    CallMode& entry = list.emplace_back();
    entry.ops = mode.ops;
    entry.share = static_cast<double>(mode.ops) / static_cast<double>(ops);
    for (const MetricRow* row : rows) entry[row->metric] = MetricValue::whole(row->source.of(*mode.example));
    if (pass == MetricPass::kTiming) {
      entry[Metric::kCallocNs] = MetricValue::real(quantile(mode.calloc_ns, 0.5));
    } else {
      entry[Metric::kZeroedBound] = bound_of(entry[Metric::kZeroedBytes], mode.example->methods);
    }
  }
  return list;
}

}  // namespace

void add_call_modes(const Passes& passes, Point& point) {
  static const Rows audit = compared_rows(MetricPass::kAudit);
  static const Rows timing = compared_rows(MetricPass::kTiming);
  const auto page = static_cast<std::int64_t>(page_bytes());
  const auto bytes = std::max(static_cast<std::int64_t>(point.size_bytes / 16), 2 * page);
  const auto faults = std::max<std::int64_t>(bytes / page, 16);
  point.audit_modes = call_modes(modes_of(passes.audit, audit, bytes), audit, MetricPass::kAudit);
  point.timing_modes = call_modes(modes_of(passes.timing, timing, faults), timing, MetricPass::kTiming);
}

}  // namespace zerotax
