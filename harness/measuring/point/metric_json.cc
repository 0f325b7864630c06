#include "point/metric_json.h"

#include <fmt/format.h>

#include <stdexcept>

namespace zerotax {
namespace {

/// Where a value stands, put into words only for an error.
struct Place {
  const std::string& parent;
  const MetricRow& row;
};

[[noreturn]] void refuse(const Place& place, const char* expected) {
  throw std::invalid_argument(fmt::format("{}/{} is not {}", place.parent, dotted_key(place.row), expected));
}

MetricValue number_in(const Json& json, const Place& place) {
  if (json.is_number_float()) return MetricValue::real(json.get<double>());
  if (json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0)) {
    return MetricValue::whole(json.get<std::int64_t>());
  }
  refuse(place, "a number of at least 0");
}

MetricValue count_in(const Json& json, const Place& place) {
  if (!json.is_number_integer()) refuse(place, "a whole number");
  return number_in(json, place);
}

MetricValue spread_in(const Json& json, const Place& place) {
  for (const char* part : kSpreadParts) {
    if (!json.is_object() || !json.contains(part) || !json.at(part).is_number()) {
      refuse(place, "a time with median, p05 and p95");
    }
  }
  return MetricValue::time(
      {json.at("median").get<double>(), json.at("p05").get<double>(), json.at("p95").get<double>()});
}

MetricValue calls_in(const Json& json, const Place& place) {
  if (!json.is_object()) refuse(place, "system calls by name");
  SystemCalls calls;
  for (const auto& [name, number] : json.items()) {
    calls.emplace_back(name, *count_in(number, place).count());
  }
  return MetricValue::calls(std::move(calls));
}

MetricValue word_in(const Json& json, const Place& place) {
  if (!json.is_string()) refuse(place, "a word");
  return MetricValue::word(json.get<std::string>());
}

/// The object of a group, or nullptr.
const Json* group_in(const Json& object, MetricGroup group) {
  const Json* at = &object;
  for (const char* key : keys_of(group)) {
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at->is_object() ? at : nullptr;
}

}  // namespace

Json to_json(const MetricValue& value) {
  if (!value.is_measured()) return not_available(value.why_not());
  if (const auto count = value.count()) return *count;
  if (const auto time = value.spread()) return Json{{"median", time->median}, {"p05", time->p05}, {"p95", time->p95}};
  if (const auto number = value.number()) return *number;
  if (const auto word = value.word()) return *word;
  Json calls = Json::object();
  for (const auto& [name, number] : *value.calls()) calls[name] = number;
  return calls;
}

MetricValue metric_value_from_json(const Json& json, const MetricRow& row, bool single, const std::string& parent) {
  const Place place{parent, row};
  if (is_not_available(json)) {
    if (!json.at("na").is_string() || json.at("na").get<std::string>().empty()) refuse(place, "a reason");
    return MetricValue::not_available(json.at("na").get<std::string>());
  }
  switch (row.kind) {
    case MetricKind::kTimeSpread:
      return single ? number_in(json, place) : spread_in(json, place);
    case MetricKind::kDuration:
    case MetricKind::kRatio:
      return number_in(json, place);
    case MetricKind::kCount:
    case MetricKind::kBytes:
    case MetricKind::kOperations:
      return count_in(json, place);
    case MetricKind::kWord:
      return word_in(json, place);
    case MetricKind::kSystemCalls:
      break;
  }
  return calls_in(json, place);
}

void add_value(const MetricValues& values, const MetricRow& row, Json& object) {
  const MetricValue& value = values[row.metric];
  if (value.is_absent()) return;
  Json* at = &object;
  for (const char* key : keys_of(row.group)) at = &(*at)[key];
  (*at)[row.key] = to_json(value);
}

void read_value(const Json& object, const MetricRow& row, bool single, const std::string& parent,
                MetricValues& values) {
  const Json* group = group_in(object, row.group);
  if (group == nullptr) return;
  const auto found = group->find(row.key);
  if (found == group->end()) return;
  values[row.metric] = metric_value_from_json(*found, row, single, parent);
}

}  // namespace zerotax
