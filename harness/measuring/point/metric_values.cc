#include "point/metric_values.h"

#include <algorithm>
#include <cmath>

#include "os/page.h"

namespace zerotax {

std::optional<std::uint64_t> MetricValues::calls(Metric metric, std::string_view system_call) const {
  const SystemCalls* all = calls(metric);
  if (all == nullptr) return std::nullopt;
  const auto found =
      std::find_if(all->begin(), all->end(), [&](const auto& call) { return call.first == system_call; });
  return found == all->end() ? 0 : found->second;
}

bool MetricValues::is_upper_bound(Metric metric) const {
  const auto bound = row_of(metric).bound;
  return bound && is_word(*bound, "at most");
}

std::optional<std::uint64_t> MetricValues::evident_count(Metric metric) const {
  const auto found = number(metric);
  if (!found) return std::nullopt;
  const auto rounded = static_cast<std::uint64_t>(std::llround(*found));
  return rounded >= 2 * page_bytes_ || !is_upper_bound(metric) ? rounded : 0;
}

bool MetricValues::has(MetricGroup group) const {
  return std::any_of(metric_rows().begin(), metric_rows().end(),
                     [&](const MetricRow& row) { return row.group == group && !(*this)[row.metric].is_absent(); });
}

}  // namespace zerotax
