#include "top/huge_pages.h"

#include <algorithm>
#include <vector>

#include "os/clock.h"
#include "os/process_info.h"

namespace zerotax::top {
namespace {

/// A look that took so long is followed by a pause of so many times that.
constexpr std::int64_t kPause = 1000;
/// Within one interval, looks may take this long together.
constexpr std::int64_t kMostNs = 2'000'000;
/// A process that was not shown for so long is forgotten.
constexpr std::int64_t kForgottenNs = 60'000'000'000;

}  // namespace

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
