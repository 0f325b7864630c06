#include "core/point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/statistics.h"
#include "core/call_modes.h"
#include "core/fork_metrics.h"
#include "core/steady_state.h"
#include "core/transfer.h"
#include "core/zero_time.h"
#include "os/syscall_counter.h"

namespace zerotax {
namespace {

using Tally = SyscallTally OpRecord::*;
constexpr std::size_t kFirstOps = 8;

Json tally_json(const SyscallTally& tally) {
  Json calls = Json::object();
  for (std::uint32_t i = 0; i < tally.used; ++i) {
    const SyscallCount& kind = tally.kinds[i];
    const char* name = syscall_name(kind.number);
    calls[name != nullptr ? name : fmt::format("syscall_{}", kind.number)] = kind.calls;
  }
  return calls;
}

Json syscalls_at(const PassResult& audit, std::size_t op, Tally which) {
  if (op >= audit.ops()) return not_available(why_not(audit, "audit"));
  const char* na = &audit.record().na_syscalls[0];
  if (na[0] != '\0') return not_available(na);
  const SyscallTally& tally = audit.op(op).*which;
  if (tally.incomplete != 0)
    return not_available("the call started a thread or process, or made too many kinds of system calls");
  return tally_json(tally);
}

/// A figure of touching, with the reason why a pass that was made has none.
Json touched(Json figure, const PassResult& timing) {
  const bool nothing = timing.ops() > 0 && timing.op(0).touch_ns == kNotMeasured;
  return nothing ? not_available("nothing is touched") : std::move(figure);
}

/// The tally that occurs most often in the steady state; of equals, the latest.
Json steady_syscalls(const PassResult& audit, Tally which) {
  if (audit.ops() == 0) return not_available(why_not(audit, "audit"));
  std::map<std::string, std::size_t> seen;
  Json best;
  for (std::size_t i = warm_up_operations(audit.ops()); i < audit.ops(); ++i) {
    Json calls = syscalls_at(audit, i, which);
    if (is_not_available(calls)) return calls;
    const std::size_t times = ++seen[calls.dump()];
    if (best.is_null() || times >= seen[best.dump()]) best = calls;
  }
  return best;
}

/// Where the block of an operation lives: in the brk heap; in a mapping that calloc or free made or removed; or in
/// memory that the allocator has for many blocks.
Json home_at(const PassResult& audit, std::size_t op) {
  if (op >= audit.ops()) return not_available(why_not(audit, "audit"));
  if (audit.op(op).in_heap != 0) return "heap";
  const Json in_calloc = syscalls_at(audit, op, &OpRecord::calloc_syscalls);
  const Json in_free = syscalls_at(audit, op, &OpRecord::free_syscalls);
  if (is_not_available(in_calloc)) return in_calloc;
  if (is_not_available(in_free)) return in_free;
  return in_calloc.contains("mmap") || in_free.contains("munmap") ? "mapping" : "arena";
}

Json sum_of(const Json& one, const Json& other) {
  if (is_not_available(one)) return one;
  if (is_not_available(other)) return other;
  Json sum = one;
  for (const auto& [name, calls] : other.items()) sum[name] = sum.value(name, 0) + calls.get<int>();
  return sum;
}

const char* audit_reason(const PassResult& audit, char const (Record::*reason)[kReasonBytes]) {
  return audit.made() ? &(audit.record().*reason)[0] : "";
}

std::string method_name(std::uint32_t methods) {
  if (methods == 0) return "none";
  if (methods == (kByMemset | kByInline)) return "memset+inline";
  return methods == kByMemset ? "memset" : "inline";
}

using Methods = std::uint32_t OpRecord::*;

Json zeroed_method(const PassResult& audit, const Json& zeroed_bytes, Methods which) {
  return is_not_available(zeroed_bytes) ? zeroed_bytes : Json(method_name(steady_methods(audit, which)));
}

/// A page that was written to may have been written to in one byte only.
Json zeroed_bound(const Json& zeroed_bytes, std::uint32_t methods) {
  if (is_not_available(zeroed_bytes)) return zeroed_bytes;
  return (methods & kByInline) != 0 ? "at most" : "exact";
}

Json first_ops(const Passes& passes) {
  Json entries = Json::array();
  const std::size_t ops = std::min(kFirstOps, std::max(passes.timing.ops(), passes.audit.ops()));
  const auto& audit = passes.audit;
  const char* na_zeroed = audit_reason(audit, &Record::na_zeroed);
  const char* na_redundant = audit_reason(audit, &Record::na_redundant);
  const char* na_populated = audit_reason(audit, &Record::na_populated);
  for (std::size_t i = 0; i < ops; ++i) {
    Json entry;
    entry["op"] = i + 1;
    entry["calloc_ns"] = single_figure(passes.timing, "timing", i, &OpRecord::calloc_ns, "");
    entry["touch_ns"] = touched(single_figure(passes.timing, "timing", i, &OpRecord::touch_ns, ""), passes.timing);
    entry["free_ns"] = single_figure(passes.timing, "timing", i, &OpRecord::free_ns, "");
    const Json zeroed = single_figure(audit, "audit", i, &OpRecord::zeroed_bytes, na_zeroed);
    entry["zero_ns"] = zero_time_at(passes, i, zeroed);
    entry["zeroed_bytes"] = zeroed;
    entry["redundant_zeroed_bytes"] = single_figure(audit, "audit", i, &OpRecord::redundant_zeroed_bytes, na_redundant);
    entry["zeroed_bound"] = zeroed_bound(zeroed, i < audit.ops() ? audit.op(i).methods : 0);
    const Json in_free =
        single_figure(audit, "audit", i, &OpRecord::zeroed_in_free_bytes, na_zeroed, &Record::na_unseen_in_free);
    entry["zeroed_in_free_bytes"] = in_free;
    entry["redundant_zeroed_in_free_bytes"] = single_figure(
        audit, "audit", i, &OpRecord::redundant_zeroed_in_free_bytes, na_redundant, &Record::na_unseen_in_free);
    entry["zeroed_in_free_bound"] = zeroed_bound(in_free, i < audit.ops() ? audit.op(i).free_methods : 0);
    entry["populated_bytes"] = single_figure(audit, "audit", i, &OpRecord::populated_bytes, na_populated);
    entry["calloc_faults"] = single_figure(passes.timing, "timing", i, &OpRecord::calloc_faults, "");
    entry["touch_faults"] =
        touched(single_figure(passes.timing, "timing", i, &OpRecord::touch_faults, ""), passes.timing);
    entry["free_faults"] = single_figure(passes.timing, "timing", i, &OpRecord::free_faults, "");
    entry["calloc_syscalls"] = syscalls_at(audit, i, &OpRecord::calloc_syscalls);
    entry["free_syscalls"] = syscalls_at(audit, i, &OpRecord::free_syscalls);
    entry["home"] = home_at(audit, i);
    if (auto fork = fork_json(passes, i)) entry["fork"] = std::move(*fork);
    entries.push_back(std::move(entry));
  }
  return entries;
}

const char* status_word(PassResult::Status status) {
  switch (status) {
    case PassResult::Status::kOk:
      return "ok";
    case PassResult::Status::kFailed:
      return "failed";
    case PassResult::Status::kCrashed:
      return "crashed";
    case PassResult::Status::kTimeout:
      return "timeout";
    case PassResult::Status::kStopped:
      break;
  }
  return "skipped";
}

/// Status and reason of a point: of its first pass that went wrong, then of its contents.
void set_status(const Passes& passes, Json& json) {
  json["status"] = "ok";
  json["reason"] = nullptr;
  for (const auto& [name, pass] : {std::pair{"audit", &passes.audit},
                                   {"timing", &passes.timing},
                                   {"zeroing", &passes.zeroing},
                                   {"differential", &passes.differential},
                                   {"faults", &passes.faults}}) {
    if (!pass->made() || pass->status() == PassResult::Status::kOk) continue;
    json["status"] = status_word(pass->status());
    json["reason"] = fmt::format("{} pass: {}", name, pass->reason());
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).not_zero == 0) continue;
    json["status"] = "not_zero";
    json["reason"] = fmt::format("calloc handed out a block with a non-zero byte at offset {}, operation {}",
                                 passes.audit.op(i).not_zero_offset, i + 1);
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).misaligned == 0) continue;
    json["status"] = "misaligned";
    json["reason"] = fmt::format("calloc handed out a block aligned to {} bytes where {} are required, operation {}",
                                 passes.audit.op(i).misaligned, alignof(std::max_align_t), i + 1);
    return;
  }
}

/// The promises that were broken, in whatever operation.
void add_violations(const PassResult& audit, Json& violations) {
  bool dirty = false;
  bool misaligned = false;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    dirty = dirty || audit.op(i).not_zero != 0;
    misaligned = misaligned || audit.op(i).misaligned != 0;
  }
  if (dirty) violations.push_back("not_zero");
  if (misaligned) violations.push_back("misaligned");
}

Json header(const Plan& plan, const PointSpec& spec, std::size_t ops, std::size_t audited_ops) {
  const Allocator& allocator = plan.allocators[spec.allocator];
  Json json;
  json["allocator"] = allocator.name;
  json["version"] = version_json(allocator);
  json["preload"] = allocator.preload ? Json(*allocator.preload) : Json(nullptr);
  json["env"] = allocator_json(allocator)["env"];
  json["case"] = spec.case_name;
  json["size_bytes"] = spec.size_bytes;
  json["touch"] = spec.touch;
  json["thread"] = spec.thread;
  json["ops"] = ops;
  json["audited_ops"] = audited_ops;
  return json;
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
  if (audit.record().na_zeroed[0] != '\0' || audit.record().na_populated[0] != '\0') return false;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    if (audit.op(i).zeroed_bytes != 0) return false;
  }
  return true;
}

Json point_json(const Plan& plan, const PointSpec& spec, const Passes& passes) {
  Json json = header(plan, spec, passes.timing.ops(), passes.audit.ops());
  set_status(passes, json);
  const auto& [audit, timing, zeroing, differential, faults] = passes;
  json["calloc_ns"] = steady_time(timing, &OpRecord::calloc_ns, "not measured by this pass");
  json["touch_ns"] = steady_time(timing, &OpRecord::touch_ns, "nothing is touched");
  json["free_ns"] = steady_time(timing, &OpRecord::free_ns, "not measured by this pass");
  const Json zeroed_bytes =
      steady_count(audit, "audit", &OpRecord::zeroed_bytes, audit_reason(audit, &Record::na_zeroed));
  const auto [zero_ns, zero_ns_method] = zero_time(passes, zeroed_bytes, json["calloc_ns"]);
  json["zero_ns"] = zero_ns;
  json["zero_ns_method"] = zero_ns_method;
  json["zeroed_bytes"] = zeroed_bytes;
  json["redundant_zeroed_bytes"] =
      steady_count(audit, "audit", &OpRecord::redundant_zeroed_bytes, audit_reason(audit, &Record::na_redundant));
  json["populated_bytes"] =
      steady_count(audit, "audit", &OpRecord::populated_bytes, audit_reason(audit, &Record::na_populated));
  const Json touch_populated =
      steady_count(audit, "audit", &OpRecord::touch_populated_bytes, audit_reason(audit, &Record::na_populated));
  json["touch_populated_bytes"] = spec.touch > 0 ? touch_populated : not_available("nothing is touched");
  json["zeroed_method"] = zeroed_method(audit, zeroed_bytes, &OpRecord::methods);
  json["zeroed_bound"] = zeroed_bound(zeroed_bytes, steady_methods(audit, &OpRecord::methods));
  const Json in_free = steady_count(audit, "audit", &OpRecord::zeroed_in_free_bytes,
                                    audit_reason(audit, &Record::na_zeroed), &Record::na_unseen_in_free);
  json["zeroed_in_free_bytes"] = in_free;
  const ZeroTime free_time = zero_in_free_time(passes, in_free, json["free_ns"]);
  json["zero_in_free_ns"] = free_time.ns;
  json["zero_in_free_ns_method"] = free_time.method;
  json["redundant_zeroed_in_free_bytes"] =
      steady_count(audit, "audit", &OpRecord::redundant_zeroed_in_free_bytes,
                   audit_reason(audit, &Record::na_redundant), &Record::na_unseen_in_free);
  json["zeroed_in_free_method"] = zeroed_method(audit, in_free, &OpRecord::free_methods);
  json["zeroed_in_free_bound"] = zeroed_bound(in_free, steady_methods(audit, &OpRecord::free_methods));
  const char* no_inline = audit_reason(audit, &Record::na_inline);
  json["inline_stores"] = no_inline[0] != '\0' ? not_available(no_inline) : Json("watched");
  json["calloc_faults"] = steady_count(timing, "timing", &OpRecord::calloc_faults, "");
  json["touch_faults"] = touched(steady_count(timing, "timing", &OpRecord::touch_faults, ""), timing);
  json["free_faults"] = steady_count(timing, "timing", &OpRecord::free_faults, "");
  const Json in_calloc = steady_syscalls(audit, &OpRecord::calloc_syscalls);
  const Json free_syscalls = steady_syscalls(audit, &OpRecord::free_syscalls);
  json["syscalls"] = sum_of(in_calloc, free_syscalls);
  json["calloc_syscalls"] = in_calloc;
  json["free_syscalls"] = free_syscalls;
  json["home"] = home_at(audit, audit.ops() == 0 ? 0 : audit.ops() - 1);
  if (auto transfer = transfer_json(passes, zeroed_bytes, json["redundant_zeroed_bytes"])) {
    json["transfer"] = std::move(*transfer);
  }
  if (auto fork = fork_json(passes)) json["fork"] = std::move(*fork);
  json["first_ops"] = first_ops(passes);
  if (auto modes = call_modes_json(passes, spec.size_bytes)) json["modes"] = std::move(*modes);
  json["violations"] = Json::array();
  // A pass that went wrong is the status, and what was measured until then is not judged.
  if (json["status"] == "not_zero" || json["status"] == "misaligned") add_violations(passes.audit, json["violations"]);
  return json;
}

Json skipped_point_json(const Plan& plan, const PointSpec& spec, const std::string& reason) {
  Json json = header(plan, spec, 0, 0);
  json["status"] = "skipped";
  json["reason"] = reason;
  for (const char* figure : {"calloc_ns",
                             "touch_ns",
                             "free_ns",
                             "zero_ns",
                             "zero_ns_method",
                             "zero_in_free_ns",
                             "zero_in_free_ns_method",
                             "zeroed_bytes",
                             "redundant_zeroed_bytes",
                             "populated_bytes",
                             "touch_populated_bytes",
                             "zeroed_method",
                             "zeroed_bound",
                             "zeroed_in_free_bytes",
                             "redundant_zeroed_in_free_bytes",
                             "zeroed_in_free_method",
                             "zeroed_in_free_bound",
                             "inline_stores",
                             "calloc_faults",
                             "touch_faults",
                             "free_faults",
                             "syscalls",
                             "calloc_syscalls",
                             "free_syscalls",
                             "home"}) {
    json[figure] = not_available("skipped: " + reason);
  }
  json["first_ops"] = Json::array();
  json["violations"] = Json::array();
  return json;
}

}  // namespace zerotax
