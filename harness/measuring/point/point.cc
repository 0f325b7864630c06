#include "point/point.h"

#include <string_view>

#include "os/processor.h"
#include "point/audited_syscalls.h"
#include "point/call_modes.h"
#include "point/first_operations.h"
#include "point/fork_metrics.h"
#include "point/measured_values.h"
#include "point/point_outcome.h"
#include "point/steady_state.h"
#include "point/transfer.h"
#include "point/zero_time.h"
#include "point/zeroed_words.h"

namespace zerotax {
namespace {

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

/// Of no time can be said what it would be on hardware; but where there was nothing to time, it is 0.
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
