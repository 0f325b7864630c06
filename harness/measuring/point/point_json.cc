#include "point/point_json.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "point/metric_json.h"

namespace zerotax {
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

/// The value under a key as a C++ type, or `otherwise` if there is none.
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

/// The elements of the list under a key; none if there is no such key.
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
                     "measure it again, or take the line out");
  }
  return typed;
}

}  // namespace zerotax
