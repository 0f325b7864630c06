#include "point/point_document.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "base/table.h"
#include "point/metrics.h"

namespace zerotax {
namespace {

/// The position of a value in the document, formatted only for an error.
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

/// Returns the object of a group, or nullptr.
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

namespace {

Json first_op_json(const FirstOperation& operation) {
  Json entry;
  entry["op"] = operation.op;
  for (const MetricRow* row : first_op_rows()) add_value(operation, *row, entry);
  return entry;
}

void add_modes(const std::vector<CallMode>& modes, MetricPass pass, Json& json) {
  if (modes.empty()) return;
  Json& list = json["modes"][pass_name(pass)];
  for (const CallMode& mode : modes) {
    Json entry{{"ops", mode.ops}, {"share", mode.share}};
    for (const MetricRow* row : mode_rows(pass)) add_value(mode, *row, entry);
    list.push_back(std::move(entry));
  }
}

/// Returns the value under a key as a C++ type, or `otherwise` if there is none.
template <typename Type>
Type field(const Json& json, const char* key, Type otherwise, const std::string& place = "") {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return otherwise;
  try {
    return found->template get<Type>();
  } catch (const Json::exception&) {
    throw std::invalid_argument(fmt::format("{}/{}: {} has the wrong type", place, key, json_line(*found)));
  }
}

template <typename Type>
std::optional<Type> optional_field(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return field<Type>(json, key, {});
}

/// Returns the elements of the list under a key, or none if the key does not exist.
const Json& list_in(const Json& json, const char* key, const std::string& place = "") {
  static const Json kNone = Json::array();
  const auto found = json.find(key);
  if (found == json.end()) return kNone;
  if (!found->is_array()) throw std::invalid_argument(fmt::format("{}/{}: not a list", place, key));
  return *found;
}

MetricValue version_in(const Json& json) {
  const auto found = json.find("version");
  if (found == json.end()) return {};
  if (is_not_available(*found)) return MetricValue::not_available(text_field(*found, "na", "unknown"));
  return MetricValue::word(field<std::string>(json, "version", ""));
}

PointStatus status_in(const Json& json) {
  const auto word = field<std::string>(json, "status", "none");
  if (const auto status = status_of_word(word)) return *status;
  throw std::invalid_argument(fmt::format("/status: unknown status '{}'", word));
}

std::vector<FirstOperation> first_ops_in(const Json& json) {
  std::vector<FirstOperation> operations;
  for (const Json& entry : list_in(json, "first_ops")) {
    const std::string place = fmt::format("/first_ops/{}", operations.size());
    FirstOperation& operation = operations.emplace_back();
    operation.op = field<std::uint64_t>(entry, "op", operations.size(), place);
    for (const MetricRow* row : first_op_rows()) read_value(entry, *row, true, place, operation);
  }
  return operations;
}

std::vector<CallMode> modes_in(const Json& json, MetricPass pass) {
  std::vector<CallMode> modes;
  const auto all = json.find("modes");
  if (all == json.end()) return modes;
  for (const Json& entry : list_in(*all, pass_name(pass), "/modes")) {
    const std::string place = fmt::format("/modes/{}/{}", pass_name(pass), modes.size());
    CallMode& mode = modes.emplace_back();
    mode.ops = field<std::uint64_t>(entry, "ops", 0, place);
    mode.share = field<double>(entry, "share", 0, place);
    for (const MetricRow* row : mode_rows(pass)) read_value(entry, *row, true, place, mode);
  }
  return modes;
}

}  // namespace

Json to_json(const Point& point) {
  Json json;
  json["allocator"] = point.allocator;
  json["version"] = to_json(point.version);
  json["preload"] = point.preload ? Json(*point.preload) : Json(nullptr);
  json["env"] = point.env;
  json["case"] = point.case_name;
  json["size_bytes"] = point.size_bytes;
  json["touch"] = point.touch;
  json["thread"] = point.thread;
  json["ops"] = point.ops;
  if (point.audited_ops) json["audited_ops"] = *point.audited_ops;
  json["status"] = word_of(point.status);
  json["reason"] = point.reason ? Json(*point.reason) : Json(nullptr);
  for (const MetricRow& row : metric_rows()) add_value(point, row, json);
  json["first_ops"] = Json::array();
  for (const FirstOperation& operation : point.first_ops) json["first_ops"].push_back(first_op_json(operation));
  add_modes(point.audit_modes, MetricPass::kAudit, json);
  add_modes(point.timing_modes, MetricPass::kTiming, json);
  json["violations"] = point.violations;
  if (point.host) json["host"] = *point.host;
  return json;
}

Point point_from_json(const Json& json, std::uint64_t page) {
  if (!json.is_object()) throw std::invalid_argument("a point is not an object");
  Point point;
  point.allocator = field<std::string>(json, "allocator", "");
  point.version = version_in(json);
  point.preload = optional_field<std::string>(json, "preload");
  point.env = field<std::map<std::string, std::string>>(json, "env", {});
  point.case_name = field<std::string>(json, "case", "");
  point.size_bytes = field<std::uint64_t>(json, "size_bytes", 0);
  point.touch = field<double>(json, "touch", 0);
  point.thread = field<std::string>(json, "thread", "");
  point.ops = field<std::uint64_t>(json, "ops", 0);
  point.audited_ops = optional_field<std::uint64_t>(json, "audited_ops");
  point.status = status_in(json);
  point.reason = optional_field<std::string>(json, "reason");
  for (const MetricRow& row : metric_rows()) read_value(json, row, false, "", point);
  point.first_ops = first_ops_in(json);
  point.audit_modes = modes_in(json, MetricPass::kAudit);
  point.timing_modes = modes_in(json, MetricPass::kTiming);
  point.violations = field<std::vector<std::string>>(json, "violations", {});
  point.host = optional_field<std::string>(json, "host");
  point.set_page_bytes(page);
  for (FirstOperation& operation : point.first_ops) operation.set_page_bytes(page);
  for (CallMode& mode : point.audit_modes) mode.set_page_bytes(page);
  for (CallMode& mode : point.timing_modes) mode.set_page_bytes(page);
  return point;
}

std::vector<Point> typed_points(const std::vector<Json>& points, std::uint64_t page) {
  std::vector<Point> typed;
  typed.reserve(points.size());
  try {
    for (const Json& point : points) typed.push_back(point_from_json(point, page));
  } catch (const std::invalid_argument& problem) {
    throw UsageError(fmt::format("point {} of the run cannot be read: {}", typed.size() + 1, problem.what()),
                     "measure the point again, or remove the line");
  }
  return typed;
}

namespace {

std::string field(const Json& value) {
  if (value.is_null() || is_not_available(value)) return "";
  return csv_field(value.is_string() ? value.get<std::string>() : json_line(value));
}

/// A column, with its name and its position in a point. A value that is absent or n/a becomes an empty field.
struct CsvColumn {
  std::string name;
  Json::json_pointer place;
};

/// Returns a metric's position in a point, such as "/fork/child/copies".
Json::json_pointer pointer_to(const MetricRow& row) {
  Json::json_pointer place;
  for (const char* key : keys_of(row.group)) place /= std::string(key);
  return place / std::string(row.key);
}

std::vector<CsvColumn> make_columns() {
  std::vector<CsvColumn> columns;
  for (const char* name :
       {"allocator", "version", "preload", "env", "case", "size_bytes", "touch", "thread", "ops", "status", "reason"}) {
    columns.push_back({name, Json::json_pointer("/" + std::string(name))});
  }
  for (const MetricRow& row : metric_rows()) {
    const std::vector<std::string> names = csv_columns(row);
    const Json::json_pointer place = pointer_to(row);
    if (names.size() == 1) columns.push_back({names.front(), place});
    if (names.size() < 2) continue;
    for (std::size_t i = 0; i < names.size(); ++i)
      columns.push_back({names[i], place / std::string(kSpreadParts.at(i))});
  }
  return columns;
}

}  // namespace

std::string points_csv(const std::vector<Point>& points) {
  static const std::vector<CsvColumn> columns = make_columns();
  std::string text;
  for (const CsvColumn& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += "\n";
  for (const Point& each : points) {
    const Json point = to_json(each);
    std::string line;
    for (const CsvColumn& column : columns) {
      const bool first = &column == &columns.front();
      line += (first ? "" : ",") + (point.contains(column.place) ? field(point.at(column.place)) : "");
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace zerotax
