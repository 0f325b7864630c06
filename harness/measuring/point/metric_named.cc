#include "point/metric_named.h"

#include "base/names.h"

namespace zerotax {

std::optional<Metric> metric_named(const std::string& word) {
  const std::string key = key_of_name(word);
  if (const auto found = metric_of_key(key)) return found;
  for (const MetricRow& row : metric_rows()) {
    if (key == key_of_name(row.name)) return row.metric;
  }
  return std::nullopt;
}

}  // namespace zerotax
