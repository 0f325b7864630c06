#include "point/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "os/processor.h"
#include "point/pass_metrics.h"
#include "point/steady_state.h"
#include "point/zero_time.h"

namespace zerotax {
namespace {

PointStatus status_of(PassResult::Status status) {
  switch (status) {
    case PassResult::Status::kOk:
      return PointStatus::kOk;
    case PassResult::Status::kFailed:
      return PointStatus::kFailed;
    case PassResult::Status::kCrashed:
      return PointStatus::kCrashed;
    case PassResult::Status::kTimeout:
      return PointStatus::kTimeout;
    case PassResult::Status::kStopped:
      break;
  }
  return PointStatus::kSkipped;
}

/// Sets status and reason of a point, from its first failed pass, or else from its contents.
void set_status(const Passes& passes, Point& point) {
  for (const auto& [name, pass] : {std::pair{"audit", &passes.audit},
                                   {"timing", &passes.timing},
                                   {"zeroing", &passes.zeroing},
                                   {"differential", &passes.differential},
                                   {"faults", &passes.faults},
                                   {"held", &passes.held},
                                   {"held without huge pages", &passes.held_without}}) {
    if (!pass->made() || pass->status() == PassResult::Status::kOk) continue;
    point.status = status_of(pass->status());
    point.reason = fmt::format("{} pass: {}", name, pass->reason());
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).not_zero == 0) continue;
    point.status = PointStatus::kNotZero;
    point.reason = fmt::format("calloc handed out a block with a non-zero byte at offset {}, operation {}",
                               passes.audit.op(i).not_zero_offset, i + 1);
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).misaligned == 0) continue;
    point.status = PointStatus::kMisaligned;
    point.reason = fmt::format("calloc handed out a block aligned to {} bytes where {} are required, operation {}",
                               passes.audit.op(i).misaligned, alignof(std::max_align_t), i + 1);
    return;
  }
}

/// Adds the promises that any operation broke.
void add_violations(const PassResult& audit, std::vector<std::string>& violations) {
  bool dirty = false;
  bool misaligned = false;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    dirty = dirty || audit.op(i).not_zero != 0;
    misaligned = misaligned || audit.op(i).misaligned != 0;
  }
  if (dirty) violations.emplace_back(word_of(PointStatus::kNotZero));
  if (misaligned) violations.emplace_back(word_of(PointStatus::kMisaligned));
}

/// Sets status, reason and violations of a point, from its first failed pass, or else from its contents.
void set_outcome(const Passes& passes, Point& point) {
  set_status(passes, point);
  // If a pass failed, its failure is the status of the point, and metrics measured before the failure are not judged.
  if (point.status == PointStatus::kNotZero || point.status == PointStatus::kMisaligned) {
    add_violations(passes.audit, point.violations);
  }
}

bool receives(const PassResult& pass) { return pass.made() && pass.samples().receives != 0; }

/// Returns the bytes received by one operation in the steady state, or 0.
std::int64_t received_by_operation(const PassResult& pass) {
  std::vector<std::int64_t> values;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    values.push_back(std::max<std::int64_t>(pass.op(i).received_bytes, 0));
  }
  return values.empty() ? 0 : observed_median(values);
}

/// Returns a metric of the audit per byte that an operation received.
MetricValue per_received_byte(const PassResult& audit, const MetricValue& figure) {
  if (figure.is_not_available()) return figure;
  const std::int64_t received = received_by_operation(audit);
  if (received == 0) return MetricValue::not_available("the audit pass received no data");
  return MetricValue::real(*figure.number() / static_cast<double>(received));
}

/// Adds the point's transfer, for a case that receives: the rates per second and per CPU second of receiving, and the
/// zeroed bytes per received byte. Times and faults are from the loop at the end of the timing pass. Bytes are from the
/// audit, whose steady state the point already has. Adds nothing for a case that does not receive. MB and GB are 10^6
/// and 10^9 bytes.
void add_transfer(const Passes& passes, Point& point) {
  const PassResult& timing = passes.timing;
  if (!receives(timing) && !receives(passes.audit)) return;
  const Transfer found = timing.made() ? timing.samples().transfer : Transfer{};
  const std::int64_t received = std::max(received_by_operation(timing), received_by_operation(passes.audit));
  const auto none = [&] {
    return MetricValue::not_available(timing.reason().empty() ? "the timing pass ran no loop without meters"
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

MetricValue version_of(const Allocator& allocator) {
  const Json version = version_json(allocator);
  if (is_not_available(version)) return MetricValue::not_available(version.at("na").get<std::string>());
  return MetricValue::word(version.get<std::string>());
}

Point unmeasured_point(const Plan& plan, const PointSpec& spec) {
  const Allocator& allocator = plan.allocators[spec.allocator];
  Point point;
  point.allocator = allocator.name;
  point.version = version_of(allocator);
  point.preload = allocator.preload;
  point.env = allocator.env;
  point.case_name = spec.case_name;
  point.size_bytes = spec.size_bytes;
  point.touch = spec.touch;
  point.thread = spec.thread;
  point.audited_ops = 0;
  return point;
}

void add_zero_times(const Passes& passes, Point& point) {
  const ZeroTime in_calloc = zero_time(passes, point[Metric::kZeroedBytes], point[Metric::kCallocNs]);
  point[Metric::kZeroNs] = in_calloc.ns;
  point[Metric::kZeroNsMethod] = in_calloc.method;
  const ZeroTime in_free = zero_in_free_time(passes, point[Metric::kZeroedInFreeBytes], point[Metric::kFreeNs]);
  point[Metric::kZeroInFreeNs] = in_free.ns;
  point[Metric::kZeroInFreeNsMethod] = in_free.method;
}

void add_zeroed_words(const PassResult& audit, Point& point) {
  const std::uint32_t methods = steady_methods(audit, &OpSample::methods);
  const std::uint32_t free_methods = steady_methods(audit, &OpSample::free_methods);
  point[Metric::kZeroedMethod] = method_of(point[Metric::kZeroedBytes], methods);
  point[Metric::kZeroedBound] = bound_of(point[Metric::kZeroedBytes], methods);
  point[Metric::kZeroedInFreeMethod] = method_of(point[Metric::kZeroedInFreeBytes], free_methods);
  point[Metric::kZeroedInFreeBound] = bound_of(point[Metric::kZeroedInFreeBytes], free_methods);
  const char* no_inline = audit.made() ? &audit.samples().na_inline[0] : "";
  point[Metric::kInlineStores] =
      no_inline[0] != '\0' ? MetricValue::not_available(no_inline) : MetricValue::word("watched");
}

void add_syscalls(const PassResult& audit, Point& point) {
  point[Metric::kCallocSyscalls] = steady_syscalls(audit, &OpSample::calloc_syscalls);
  point[Metric::kFreeSyscalls] = steady_syscalls(audit, &OpSample::free_syscalls);
  point[Metric::kSyscalls] = sum_of(point[Metric::kCallocSyscalls], point[Metric::kFreeSyscalls]);
  point[Metric::kHome] = home_at(audit, audit.ops() == 0 ? 0 : audit.ops() - 1);
}

MetricValue allocated_by(const Passes& passes) {
  const PassResult& pass = passes.timing.made() ? passes.timing : passes.audit;
  if (!pass.made()) return MetricValue::not_available(why_not(pass, "timing"));
  return MetricValue::word(pass.samples().mallocs != 0 ? "malloc" : "calloc");
}

/// Makes times n/a, because times on an emulated CPU do not predict times on hardware. A time stays 0 if there was
/// nothing to time.
template <typename Values>
void forget_times(Values& values) {
  for (const MetricRow& row : metric_rows()) {
    const std::string_view unit = row.unit;
    if (unit != "ns" && unit != "MB/s" && unit != "s/GB") continue;
    MetricValue& value = values[row.metric];
    if (!value.is_measured() || value.count() == 0U) continue;
    value = MetricValue::not_available("the CPU is emulated (QEMU without KVM)");
  }
}

}  // namespace

bool has_inline_zeroing(const PassResult& audit) {
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    if ((audit.op(i).methods & kByInline) != 0) return true;
  }
  return false;
}

bool has_no_zeroing(const PassResult& audit) {
  if (audit.ops() == 0 || audit.status() != PassResult::Status::kOk) return false;
  if (audit.samples().na_zeroed[0] != '\0' || audit.samples().na_populated[0] != '\0') return false;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    if (audit.op(i).zeroed_bytes != 0) return false;
  }
  return true;
}

Point measured_point(const Plan& plan, const PointSpec& spec, const Passes& passes) {
  Point point = unmeasured_point(plan, spec);
  point.ops = passes.timing.ops();
  point.audited_ops = passes.audit.ops();
  set_outcome(passes, point);
  for (const MetricRow& row : metric_rows()) {
    if (row.source.of == nullptr || !is_measured_group(passes, row.group)) continue;
    point[row.metric] = steady_value(passes, row, spec.touch);
  }
  add_zero_times(passes, point);
  add_zeroed_words(passes.audit, point);
  add_syscalls(passes.audit, point);
  add_transfer(passes, point);
  point[Metric::kAllocatedBy] = allocated_by(passes);
  if (forks(passes)) point[Metric::kForkMethod] = fork_method(passes.faults);
  point.first_ops = first_operations(passes);
  add_call_modes(passes, point);
  if (cpu_is_emulated()) {
    forget_times(point);
    for (FirstOperation& each : point.first_ops) forget_times(each);
    for (CallMode& each : point.timing_modes) forget_times(each);
  }
  return point;
}

Point skipped_point(const Plan& plan, const PointSpec& spec, const std::string& reason) {
  Point point = unmeasured_point(plan, spec);
  point.status = PointStatus::kSkipped;
  point.reason = reason;
  for (const MetricRow& row : metric_rows()) {
    if (row.group == MetricGroup::kPoint) point[row.metric] = MetricValue::not_available("skipped: " + reason);
  }
  return point;
}

}  // namespace zerotax
