#include "point/pass_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/statistics.h"
#include "os/page.h"
#include "os/syscall_counter.h"
#include "point/steady_state.h"
#include "point/zero_time.h"

namespace zerotax {

MetricValue method_of(const MetricValue& zeroed_bytes, std::uint32_t methods) {
  if (zeroed_bytes.is_not_available()) return zeroed_bytes;
  if (methods == 0) return MetricValue::word("none");
  if (methods == (kByMemset | kByInline)) return MetricValue::word("memset+inline");
  return MetricValue::word(methods == kByMemset ? "memset" : "inline");
}

MetricValue bound_of(const MetricValue& zeroed_bytes, std::uint32_t methods) {
  if (zeroed_bytes.is_not_available()) return zeroed_bytes;
  return MetricValue::word((methods & kByInline) != 0 ? "at most" : "exact");
}

namespace {

constexpr const char* kNothingTouched = "nothing is touched";

const PassResult& pass_of(const Passes& passes, MetricPass pass) {
  switch (pass) {
    case MetricPass::kAudit:
      return passes.audit;
    case MetricPass::kTiming:
      return passes.timing;
    case MetricPass::kZeroing:
      return passes.zeroing;
    case MetricPass::kFaults:
      return passes.faults;
    case MetricPass::kHolding:
      return passes.held;
    case MetricPass::kHoldingWithout:
      break;
  }
  return passes.held_without;
}

/// Returns why the whole pass has no value for this row, or "" if it has one.
const char* why_none(const PassResult& pass, const MetricRow& row) {
  return pass.made() && row.source.na != nullptr ? &(pass.samples().*row.source.na)[0] : "";
}

/// Whether the timing pass was run and touched nothing.
bool touched_nothing(const PassResult& timing) { return timing.ops() > 0 && timing.op(0).touch_ns == kNotMeasured; }

}  // namespace

MetricValue steady_value(const Passes& passes, const MetricRow& row, double touch) {
  if (row.kind == MetricKind::kTimeSpread) {
    return steady_time(passes.timing, row.source.of, row.of_touching ? kNothingTouched : "not measured by this pass");
  }
  const bool nothing = row.pass == MetricPass::kTiming ? touched_nothing(passes.timing) : touch == 0;
  if (row.of_touching && nothing) return MetricValue::not_available(kNothingTouched);
  const PassResult& pass = pass_of(passes, row.pass);
  return steady_count(pass, pass_name(row.pass), row.source.of, why_none(pass, row), row.source.unseen);
}

MetricValue value_at(const Passes& passes, const MetricRow& row, std::size_t op) {
  if (row.of_touching && touched_nothing(passes.timing)) return MetricValue::not_available(kNothingTouched);
  const PassResult& pass = pass_of(passes, row.pass);
  return single_figure(pass, pass_name(row.pass), op, row.source.of, why_none(pass, row), row.source.unseen);
}

bool is_measured_group(const Passes& passes, MetricGroup group) {
  if (group == MetricGroup::kHeld) return passes.held.made();
  return group == MetricGroup::kPoint || (group != MetricGroup::kTransfer && forks(passes));
}

namespace {

/// Returns the number under a name, adding it if it is missing.
std::uint64_t& calls_named(SystemCalls& calls, const std::string& name) {
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& call) { return call.first == name; });
  return found != calls.end() ? found->second : calls.emplace_back(name, 0).second;
}

bool contains(const MetricValue& calls, const char* name) {
  return std::any_of(calls.calls()->begin(), calls.calls()->end(),
                     [&](const auto& call) { return call.first == name; });
}

}  // namespace

MetricValue syscalls_at(const PassResult& audit, std::size_t op, Tally which) {
  if (op >= audit.ops()) return MetricValue::not_available(why_not(audit, "audit"));
  const char* na = &audit.samples().na_syscalls[0];
  if (na[0] != '\0') return MetricValue::not_available(na);
  const SyscallTally& tally = audit.op(op).*which;
  if (tally.incomplete != 0) {
    return MetricValue::not_available(
        "the call started a thread or process, made system calls of i386 programs, or made too many kinds of system "
        "calls");
  }
  SystemCalls calls;
  for (std::uint32_t i = 0; i < tally.used; ++i) {
    const SyscallCount& kind = tally.kinds[i];
    const char* name = syscall_name(kind.number);
    calls_named(calls, name != nullptr ? name : fmt::format("syscall_{}", kind.number)) = kind.calls;
  }
  return MetricValue::calls(std::move(calls));
}

MetricValue steady_syscalls(const PassResult& audit, Tally which) {
  if (audit.ops() == 0) return MetricValue::not_available(why_not(audit, "audit"));
  std::map<SystemCalls, std::size_t> seen;
  MetricValue best;
  for (std::size_t i = warm_up_operations(audit.ops()); i < audit.ops(); ++i) {
    MetricValue calls = syscalls_at(audit, i, which);
    if (calls.is_not_available()) return calls;
    const std::size_t times = ++seen[*calls.calls()];
    if (best.is_absent() || times >= seen[*best.calls()]) best = calls;
  }
  return best;
}

MetricValue sum_of(const MetricValue& one, const MetricValue& other) {
  if (one.is_not_available()) return one;
  if (other.is_not_available()) return other;
  SystemCalls sum = *one.calls();
  for (const auto& [name, calls] : *other.calls()) calls_named(sum, name) += calls;
  return MetricValue::calls(std::move(sum));
}

MetricValue home_at(const PassResult& audit, std::size_t op) {
  if (op >= audit.ops()) return MetricValue::not_available(why_not(audit, "audit"));
  if (audit.op(op).in_heap != 0) return MetricValue::word("heap");
  MetricValue in_calloc = syscalls_at(audit, op, &OpSample::calloc_syscalls);
  MetricValue in_free = syscalls_at(audit, op, &OpSample::free_syscalls);
  if (in_calloc.is_not_available()) return in_calloc;
  if (in_free.is_not_available()) return in_free;
  return MetricValue::word(contains(in_calloc, "mmap") || contains(in_free, "munmap") ? "mapping" : "arena");
}

namespace {

using Rows = std::vector<const MetricRow*>;

/// Returns the metrics that are compared between calls.
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

/// Returns the kinds of calls in the steady state. Returns none if an operation lacks a metric.
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

namespace {

constexpr std::size_t kFirstOps = 8;

/// Adds metrics that no row can express, because they are derived from other metrics or are not numbers.
void add_derived(const Passes& passes, std::size_t op, FirstOperation& entry) {
  const PassResult& audit = passes.audit;
  const bool seen = op < audit.ops();
  const MetricValue& zeroed = entry[Metric::kZeroedBytes];
  entry[Metric::kZeroNs] = zero_time_at(passes, op, zeroed);
  entry[Metric::kZeroedBound] = bound_of(zeroed, seen ? audit.op(op).methods : 0);
  entry[Metric::kZeroedInFreeBound] = bound_of(entry[Metric::kZeroedInFreeBytes], seen ? audit.op(op).free_methods : 0);
  entry[Metric::kCallocSyscalls] = syscalls_at(audit, op, &OpSample::calloc_syscalls);
  entry[Metric::kFreeSyscalls] = syscalls_at(audit, op, &OpSample::free_syscalls);
  entry[Metric::kHome] = home_at(audit, op);
}

}  // namespace

std::vector<FirstOperation> first_operations(const Passes& passes) {
  std::vector<FirstOperation> operations;
  const std::size_t ops = std::min(kFirstOps, std::max(passes.timing.ops(), passes.audit.ops()));
  for (std::size_t i = 0; i < ops; ++i) {
    FirstOperation& entry = operations.emplace_back();
    entry.op = i + 1;
    for (const MetricRow* row : first_op_rows()) {
      if (row->source.of == nullptr || !is_measured_group(passes, row->group)) continue;
      entry[row->metric] = value_at(passes, *row, i);
    }
    add_derived(passes, i, entry);
  }
  return operations;
}

namespace {

bool forks(const PassResult& pass) { return pass.made() && pass.samples().forks != 0; }

}  // namespace

bool forks(const Passes& passes) { return forks(passes.timing) || forks(passes.audit); }

MetricValue fork_method(const PassResult& faults) {
  if (!faults.made()) return MetricValue::not_available(why_not(faults, "faults"));
  const char* na = &faults.samples().na_classes[0];
  if (na[0] != '\0') return MetricValue::not_available(na);
  return MetricValue::word(faults.samples().by_frame != 0 ? "page frames" : "exclusive pages");
}

}  // namespace zerotax
