#include "core/call_modes.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/statistics.h"
#include "core/steady_state.h"
#include "os/page.h"

namespace zerotax {
namespace {

struct Member {
  const char* key;
  std::int64_t OpRecord::*figure;
};
using Members = std::initializer_list<Member>;

constexpr Members kAudit{{"zeroed_bytes", &OpRecord::zeroed_bytes},
                         {"redundant_zeroed_bytes", &OpRecord::redundant_zeroed_bytes},
                         {"populated_bytes", &OpRecord::populated_bytes}};
constexpr Members kTiming{{"calloc_faults", &OpRecord::calloc_faults}};

struct Mode {
  const OpRecord* example;
  std::vector<double> calloc_ns;
  std::size_t ops = 0;
};

bool is_alike(const OpRecord& one, const OpRecord& other, Members members, std::int64_t tolerance) {
  return std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return std::abs(one.*member.figure - other.*member.figure) <= tolerance;
  });
}

/// Of the steady state; empty if a figure of an operation is missing.
std::vector<Mode> modes_of(const PassResult& pass, Members members, std::int64_t tolerance) {
  std::vector<Mode> modes;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    const OpRecord& op = pass.op(i);
    for (const Member& member : members) {
      if (op.*member.figure == kNotMeasured) return {};
    }
    auto found = std::find_if(modes.begin(), modes.end(),
                              [&](const Mode& mode) { return is_alike(*mode.example, op, members, tolerance); });
    if (found == modes.end()) found = modes.insert(modes.end(), Mode{&op, {}, 0});
    ++found->ops;
    if (op.calloc_ns != kNotMeasured) found->calloc_ns.push_back(static_cast<double>(op.calloc_ns));
  }
  std::stable_sort(modes.begin(), modes.end(), [](const Mode& one, const Mode& other) { return one.ops > other.ops; });
  return modes;
}

Json modes_json(const std::vector<Mode>& modes, Members members, bool timed) {
  std::size_t ops = 0;
  for (const Mode& mode : modes) ops += mode.ops;
  Json list = Json::array();
  for (const Mode& mode : modes) {
    Json entry{{"ops", mode.ops}, {"share", static_cast<double>(mode.ops) / static_cast<double>(ops)}};
    for (const Member& member : members) entry[member.key] = mode.example->*member.figure;
    if (timed) {
      entry["calloc_ns"] = quantile(mode.calloc_ns, 0.5);
    } else {
      entry["zeroed_bound"] = (mode.example->methods & kByInline) != 0 ? "at most" : "exact";
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::optional<Json> call_modes_json(const Passes& passes, std::uint64_t size_bytes) {
  const auto page = static_cast<std::int64_t>(kPageBytes);
  const auto bytes = std::max(static_cast<std::int64_t>(size_bytes / 16), 2 * page);
  const auto audit = modes_of(passes.audit, kAudit, bytes);
  const auto timing = modes_of(passes.timing, kTiming, std::max<std::int64_t>(bytes / page, 16));
  if (audit.size() < 2 && timing.size() < 2) return std::nullopt;
  Json modes = Json::object();
  if (audit.size() > 1) modes["audit"] = modes_json(audit, kAudit, false);
  if (timing.size() > 1) modes["timing"] = modes_json(timing, kTiming, true);
  return modes;
}

}  // namespace zerotax
