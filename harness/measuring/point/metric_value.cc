#include "point/metric_value.h"

#include <stdexcept>

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

}  // namespace zerotax
