#include "point/zero_time.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/statistics.h"
#include "point/steady_state.h"

namespace zerotax {
namespace {

ZeroTime unknown(const MetricValue& why) { return {why, why}; }
ZeroTime unknown(const std::string& why) { return unknown(MetricValue::not_available(why)); }

ZeroTime found(std::int64_t ns, const char* method) { return {MetricValue::whole(ns), MetricValue::word(method)}; }

/// Returns the result if there is nothing to time, or if no time can be known.
std::optional<ZeroTime> without_timing(const MetricValue& bytes, const PassResult& audit) {
  if (bytes.is_not_available()) return unknown(bytes);
  if (bytes.count() != 0U) return {};
  // If the audit was interrupted, later operations might have zeroed bytes.
  if (audit.status() != PassResult::Status::kOk) return unknown(why_not(audit, "audit"));
  const char* blind = &audit.samples().na_populated[0];
  if (blind[0] != '\0') return unknown(std::string(blind));
  return found(0, "nothing to time");
}

/// Returns the median of zeroing's share of an operation in the steady state, or nothing if an operation has no share.
std::optional<double> steady_share(const PassResult& pass,
                                   const std::function<std::optional<double>(const OpSample&)>& share) {
  std::vector<double> shares;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    const auto found = share(pass.op(i));
    if (!found) return {};
    shares.push_back(*found);
  }
  if (shares.empty()) return {};
  return quantile(shares, 0.5);
}

std::optional<double> share_of(std::int64_t part, std::int64_t whole) {
  if (part == kNotMeasured || whole == kNotMeasured) return {};
  return whole <= 0 ? 0 : std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0);
}

std::int64_t part_of(double share, double whole) { return static_cast<std::int64_t>(share * whole); }

bool inline_in_steady_state(const PassResult& audit, std::uint32_t OpSample::*methods) {
  return (steady_methods(audit, methods) & kByInline) != 0;
}

/// Returns why there is no share of zeroing, for a pass that was run.
std::string why_no_share(const PassResult& pass, const char* name, const char* reason) {
  return pass.ops() == 0 ? why_not(pass, name) : or_else(reason, "not measured by this pass");
}

ZeroTime by_clock(const PassResult& pass, const MetricValue& call_ns, std::int64_t OpSample::*zero,
                  std::int64_t OpSample::*call, char const (SampleBlock::*why)[kReasonBytes]) {
  const auto share = steady_share(pass, [&](const OpSample& op) { return share_of(op.*zero, op.*call); });
  if (!share) return unknown(why_no_share(pass, "zeroing", pass.made() ? &(pass.samples().*why)[0] : ""));
  if (*share <= 0) return unknown(std::string("the zeroing pass saw no memset that the audit pass saw"));
  return found(part_of(*share, *call_ns.number()), "clock around memset");
}

ZeroTime by_difference(const PassResult& pass, const MetricValue& calloc_ns) {
  if (pass.ops() == 0) return unknown(why_not(pass, "differential"));
  if (pass.samples().na_zero_ns[0] != '\0') return unknown(std::string(&pass.samples().na_zero_ns[0]));
  const auto share =
      steady_share(pass, [](const OpSample& op) { return share_of(op.calloc_ns - op.malloc_ns, op.calloc_ns); });
  if (!share) return unknown(why_no_share(pass, "differential", ""));
  const std::int64_t ns = part_of(*share, *calloc_ns.number());
  if (ns <= 0) return unknown(std::string("calloc takes no longer than malloc, so the difference is meaningless"));
  return found(ns, "calloc minus malloc");
}

}  // namespace

ZeroTime zero_time(const Passes& passes, const MetricValue& zeroed_bytes, const MetricValue& calloc_ns) {
  if (auto known = without_timing(zeroed_bytes, passes.audit)) return *known;
  if (calloc_ns.is_not_available()) return unknown(calloc_ns);
  const bool by_inline = inline_in_steady_state(passes.audit, &OpSample::methods);
  if (!by_inline) {
    ZeroTime clocked =
        by_clock(passes.zeroing, calloc_ns, &OpSample::zero_ns, &OpSample::calloc_ns, &SampleBlock::na_zero_ns);
    if (!clocked.ns.is_not_available() || !passes.differential.made()) return clocked;
  }
  return by_difference(passes.differential, calloc_ns);
}

ZeroTime zero_in_free_time(const Passes& passes, const MetricValue& zeroed_in_free_bytes, const MetricValue& free_ns) {
  if (auto known = without_timing(zeroed_in_free_bytes, passes.audit)) return *known;
  if (free_ns.is_not_available()) return unknown(free_ns);
  if (inline_in_steady_state(passes.audit, &OpSample::free_methods)) {
    return unknown(std::string("zeroed by inline stores in free, which has no call without them to compare with"));
  }
  return by_clock(passes.zeroing, free_ns, &OpSample::zero_in_free_ns, &OpSample::free_ns,
                  &SampleBlock::na_zero_in_free_ns);
}

MetricValue zero_time_at(const Passes& passes, std::size_t op, const MetricValue& zeroed_bytes) {
  if (zeroed_bytes.is_not_available()) return zeroed_bytes;
  if (zeroed_bytes.count() == 0U) return MetricValue::whole(0);
  if ((passes.audit.op(op).methods & kByInline) != 0) {
    return MetricValue::not_available("zeroed by inline stores: timed in the steady state only");
  }
  const PassResult& pass = passes.zeroing;
  const char* why = pass.made() ? &pass.samples().na_zero_ns[0] : "";
  if (op >= pass.ops()) return MetricValue::not_available(why_not(pass, "zeroing"));
  const auto share = share_of(pass.op(op).zero_ns, pass.op(op).calloc_ns);
  if (!share) return MetricValue::not_available(why_no_share(pass, "zeroing", why));
  MetricValue whole = single_figure(passes.timing, "timing", op, &OpSample::calloc_ns, "");
  if (whole.is_not_available()) return whole;
  return MetricValue::whole(part_of(*share, *whole.number()));
}

bool needs_zeroing_pass(const PassResult& audit) {
  if (!has_no_zeroing(audit)) return true;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    if (audit.op(i).zeroed_in_free_bytes > 0) return true;
  }
  return false;
}

bool needs_differential_pass(const Passes& passes) {
  // A case that uses malloc makes no calls to calloc that could be compared with calls to malloc.
  if (passes.audit.made() && passes.audit.samples().mallocs != 0) return false;
  if (has_inline_zeroing(passes.audit)) return true;
  const PassResult& pass = passes.zeroing;
  return pass.made() && pass.samples().na_zero_ns[0] != '\0';
}

}  // namespace zerotax
