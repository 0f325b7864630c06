#include "point/audited_syscalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "os/syscall_counter.h"
#include "point/steady_state.h"

namespace zerotax {
namespace {

/// The number under a name, which is added if it is not there.
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
        "the call started a thread or process, made system calls of i386 programs, or too many kinds of them");
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

}  // namespace zerotax
