#include "top/watch.h"

#include <vector>

#include "base/statistics.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/utc.h"

namespace zerotax::top {
namespace {

constexpr std::uint64_t kTimedBytes = std::uint64_t{4} << 20;
/// After one that is not counted, for it finds other memory.
constexpr int kTimings = 5;

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

}  // namespace zerotax::top
