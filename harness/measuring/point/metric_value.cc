#include "point/metric_value.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "os/page.h"

namespace zerotax {

MetricValue MetricValue::whole(std::int64_t number) {
  if (number < 0) throw std::invalid_argument("a metric is below 0");
  return MetricValue(static_cast<std::uint64_t>(number));
}

MetricValue MetricValue::not_available(std::string why) {
  if (why.empty()) throw std::invalid_argument("a metric that is not available needs a reason");
  return MetricValue(Why{std::move(why)});
}

std::optional<std::uint64_t> MetricValue::count() const {
  const auto* number = std::get_if<std::uint64_t>(&value_);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> MetricValue::number() const {
  if (const auto whole = count()) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  if (const auto time = spread()) return time->median;
  return std::nullopt;
}

std::optional<Spread> MetricValue::spread() const {
  const auto* time = std::get_if<Spread>(&value_);
  return time != nullptr ? std::optional(*time) : std::nullopt;
}

std::optional<std::string> MetricValue::word() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::string MetricValue::why_not() const {
  if (is_absent()) return "not measured by this pass";
  const auto* why = std::get_if<Why>(&value_);
  return why != nullptr ? why->text : "";
}

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
