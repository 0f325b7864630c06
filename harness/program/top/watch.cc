#include "top/watch.h"

#include <algorithm>
#include <vector>

#include "base/statistics.h"
#include "os/clock.h"
#include "os/fault_cost.h"
#include "os/process_info.h"
#include "os/utc.h"

namespace zerotax::top {
namespace {

constexpr std::uint64_t kTimedBytes = std::uint64_t{4} << 20;
/// After one that is not counted, for it finds other memory.
constexpr int kTimings = 5;

/// A look that took so long is followed by a pause of so many times that.
constexpr std::int64_t kPause = 1000;
/// Within one interval, looks may take this long together.
constexpr std::int64_t kMostNs = 2'000'000;
/// A process that was not shown for so long is forgotten.
constexpr std::int64_t kForgottenNs = 60'000'000'000;

}  // namespace

Measured<double> time_fault() {
  std::vector<double> costs;
  for (int i = 0; i <= kTimings; ++i) {
    const FaultSample sample = measure_fault_cost(kTimedBytes, PageKind::kBase);
    if (i > 0 && sample.faults > 0) {
      costs.push_back(static_cast<double>(sample.cpu_ns) / static_cast<double>(sample.faults));
    }
  }
  if (costs.empty()) return NotAvailable{"no memory could be populated to time a fault"};
  return quantile(costs, 0.5);
}

Watch::Watch(bool cgroups) : table_(cgroups), account_(time_fault()) {
  account_.advance(table_.look());
  cpu_ns_ = own_cpu_ns();
}

Sample Watch::next() {
  const Look look = table_.look();
  huge_now_ = look.machine.huge_pages_now;
  Sample sample = *account_.advance(look);
  sample.schema = "zerotax.top/1";
  sample.zerotax_version = ZEROTAX_VERSION;
  sample.time = utc_now();
  sample.limits = table_.limits();
  // With what was printed of the interval before.
  const std::int64_t used = own_cpu_ns();
  sample.own.cpu_ns = used - cpu_ns_;
  sample.own.cpu_share = sample.interval_s > 0 ? static_cast<double>(sample.own.cpu_ns) / 1e9 / sample.interval_s : 0;
  cpu_ns_ = used;
  return sample;
}

void HugePages::fill(Sample& sample, const std::optional<std::uint64_t>& mapped) {
  std::vector<std::pair<Usage*, Seen*>> order;
  const std::int64_t now = monotonic_ns();
  for (Usage& row : sample.rows) {
    if (!row.pid) continue;
    row.huge_bytes = 0;
    if (mapped == std::optional<std::uint64_t>(0)) continue;
    Seen& seen = seen_[{*row.pid, row.start_ticks.value_or(0)}];
    seen.shown_ns = now;
    order.emplace_back(&row, &seen);
  }
  std::erase_if(seen_, [&](const auto& entry) { return now - entry.second.shown_ns > kForgottenNs; });
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& one, const auto& other) { return one.second->at_ns < other.second->at_ns; });
  if (now >= next_ns_ && !order.empty()) {
    const std::int64_t begin = thread_cpu_ns();
    std::int64_t used = 0;
    for (const auto& [row, seen] : order) {
      if (used > kMostNs) break;
      seen->bytes = {rollup_bytes(*row->pid, "AnonHugePages"), "its memory may not be looked at: root may"};
      seen->at_ns = now;
      used = thread_cpu_ns() - begin;
    }
    next_ns_ = now + used * kPause;
  }
  for (const auto& [row, seen] : order) row->huge_bytes = seen->bytes;
}

}  // namespace zerotax::top
