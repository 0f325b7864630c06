#include "metrics_schema.h"

#include <algorithm>
#include <array>

#include "point/metrics.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

using Rows = std::vector<const MetricRow*>;

// The keys of a point before and after its metrics.
constexpr std::array kBefore{"allocator", "version", "preload", "env",         "case",   "size_bytes",
                             "touch",     "thread",  "ops",     "audited_ops", "status", "reason"};
constexpr std::array kBehind{"transfer", "fork", "held", "first_ops", "modes", "violations", "host"};

Json reference(const std::string& definition) { return {{"$ref", "#/$defs/" + definition}}; }

/// The schema type of a row's value. `single` selects the type for a single operation.
Json type_of(const MetricRow& row, bool single) {
  switch (row.kind) {
    case MetricKind::kTimeSpread:
      return reference(single ? "duration" : "time_spread");
    case MetricKind::kDuration:
      return reference("duration");
    case MetricKind::kCount:
    case MetricKind::kBytes:
      if (row.least == 0) return reference("count");
      return {{"anyOf", {{{"type", "integer"}, {"minimum", row.least}}, reference("na")}}};
    case MetricKind::kOperations:
      return {{"type", "integer"}, {"minimum", row.least}};
    case MetricKind::kRatio:
      return reference("ratio");
    case MetricKind::kWord:
      return {{"anyOf", {{{"enum", words_of(row)}}, reference("na")}}};
    case MetricKind::kSystemCalls:
      break;
  }
  return reference("syscalls");
}

Json property_of(const MetricRow& row, const std::string& description, bool single) {
  Json property{{"description", description.empty() ? row.description : description}};
  property.update(type_of(row, single));
  return property;
}

/// A copy of an object's schema with only these properties, all required.
Json emptied(const Json& object, std::initializer_list<const char*> kept) {
  Json schema{{"description", object.value("description", "")}, {"type", "object"}, {"additionalProperties", false}};
  schema["required"] = Json::array();
  schema["properties"] = Json::object();
  for (const char* key : kept) {
    schema["properties"][key] = object.at("properties").at(key);
    schema["required"].push_back(key);
  }
  return schema;
}

/// Adds a row's property to the object of its group. Objects that do not exist yet get their descriptions from `old`.
void add_row(const MetricRow& row, const MetricElsewhere* place, const Json& old, Json& schema) {
  Json* at = &schema;
  const Json* was = &old;
  for (const char* key : keys_of(row.group)) {
    was = &was->at("properties").at(key);
    if (!at->at("properties").contains(key)) {
      (*at)["properties"][key] = emptied(*was, {});
      if (at != &schema) (*at)["required"].push_back(key);
    }
    at = &(*at)["properties"][key];
  }
  (*at)["properties"][row.key] = property_of(row, place != nullptr ? place->description : "", place != nullptr);
  if (!row.may_be_absent) (*at)["required"].push_back(row.key);
}

Json point_properties(const Json& old) {
  Json schema{{"properties", Json::object()}, {"required", Json::array()}};
  const auto keep = [&](const char* key) {
    if (!schema["properties"].contains(key)) schema["properties"][key] = old.at("properties").at(key);
    const Json& required = old.at("required");
    if (std::find(required.begin(), required.end(), key) != required.end()) schema["required"].push_back(key);
  };
  for (const char* key : kBefore) keep(key);
  for (const MetricRow& row : metric_rows()) add_row(row, nullptr, old, schema);
  for (const char* key : kBehind) keep(key);
  Json words = Json::array();
  for (const PointStatus status : all_statuses()) words.push_back(word_of(status));
  schema["properties"]["status"]["enum"] = words;
  return schema;
}

Json first_op_schema(const Json& old) {
  Json schema{{"title", old.at("title")}};
  schema.update(emptied(old, {"op"}));
  for (const MetricRow* row : first_op_rows()) add_row(*row, &row->in_first_op, old, schema);
  return schema;
}

Json mode_schema(const Json& old, MetricPass pass) {
  Json schema = emptied(old, {"ops", "share"});
  schema.erase("description");
  for (const MetricRow* row : mode_rows(pass)) add_row(*row, &row->in_mode, old, schema);
  return schema;
}

}  // namespace

Json with_metrics(const Json& schema) {
  Json written = schema;
  written.update(point_properties(schema));
  Json& first_op = written["$defs"]["first_op"];
  first_op = first_op_schema(first_op);
  for (const MetricPass pass : {MetricPass::kAudit, MetricPass::kTiming}) {
    Json& items = written["properties"]["modes"]["properties"][pass_name(pass)]["items"];
    items = mode_schema(items, pass);
  }
  return written;
}

}  // namespace zerotax
