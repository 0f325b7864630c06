#include "point/steady_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/statistics.h"

namespace zerotax {
namespace {

std::vector<std::int64_t> steady_values(const PassResult& pass, const Figure& figure) {
  std::vector<std::int64_t> values;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    const std::int64_t value = figure(pass.op(i));
    if (value != kNotMeasured) values.push_back(value);
  }
  return values;
}

/// Returns why a single operation lacks a metric, for a pass that was run.
std::string why_missing(const PassResult& pass, WhyUnseen unseen) {
  return or_else(&(pass.samples().*unseen)[0], "not measured by this pass");
}

}  // namespace

std::size_t warm_up_operations(std::size_t ops) {
  if (ops < 2) return 0;
  return std::min<std::size_t>(5, (ops + 1) / 2);
}

std::string or_else(const char* reason, const std::string& fallback) { return reason[0] != '\0' ? reason : fallback; }

std::string why_not(const PassResult& pass, const char* pass_name) {
  if (!pass.made()) return fmt::format("no {} pass was made", pass_name);
  if (!pass.reason().empty()) return fmt::format("{} pass: {}", pass_name, pass.reason());
  return pass.ops() == 0 ? fmt::format("the {} pass finished no operation", pass_name)
                         : fmt::format("the {} pass made {} operations", pass_name, pass.ops());
}

MetricValue steady_count(const PassResult& pass, const char* pass_name, const Figure& figure, const char* na,
                         WhyUnseen unseen) {
  if (pass.ops() == 0) return MetricValue::not_available(why_not(pass, pass_name));
  if (na[0] != '\0') return MetricValue::not_available(na);
  const auto values = steady_values(pass, figure);
  if (values.size() < pass.ops() - warm_up_operations(pass.ops()))
    return MetricValue::not_available(why_missing(pass, unseen));
  return MetricValue::whole(observed_median(values));
}

MetricValue steady_time(const PassResult& pass, const Figure& figure, const char* na) {
  if (pass.ops() == 0) return MetricValue::not_available(why_not(pass, "timing"));
  const auto values = steady_values(pass, figure);
  if (values.empty()) return MetricValue::not_available(na);
  return MetricValue::time(spread({values.begin(), values.end()}));
}

MetricValue single_figure(const PassResult& pass, const char* pass_name, std::size_t op, const Figure& figure,
                          const char* na, WhyUnseen unseen) {
  if (op >= pass.ops()) return MetricValue::not_available(why_not(pass, pass_name));
  const std::int64_t value = figure(pass.op(op));
  if (na[0] != '\0' || value == kNotMeasured) return MetricValue::not_available(or_else(na, why_missing(pass, unseen)));
  return MetricValue::whole(value);
}

std::uint32_t steady_methods(const PassResult& audit, std::uint32_t OpSample::*methods) {
  std::uint32_t all = 0;
  for (std::size_t i = warm_up_operations(audit.ops()); i < audit.ops(); ++i) all |= audit.op(i).*methods;
  return all;
}

}  // namespace zerotax
