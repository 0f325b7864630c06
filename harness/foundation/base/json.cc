#include "base/json.h"

#include <stdexcept>

#include "base/printable.h"

namespace zerotax {
namespace {

/// The same document with text that JSON can hold.
Json with_valid_text(const Json& json) {
  if (json.is_string()) return valid_utf8(json.get_ref<const std::string&>());
  Json valid = json;
  if (json.is_object()) {
    valid = Json::object();
    for (const auto& [key, value] : json.items()) valid[valid_utf8(key)] = with_valid_text(value);
  } else if (json.is_array()) {
    for (Json& each : valid) each = with_valid_text(each);
  }
  return valid;
}

std::string dumped(const Json& json, int indent) {
  try {
    return printable_json(json.dump(indent));
  } catch (const Json::type_error&) {
    return printable_json(with_valid_text(json).dump(indent));
  }
}

}  // namespace

std::string json_text(const Json& json) { return dumped(json, 1) + "\n"; }

std::string json_line(const Json& json) { return dumped(json, -1); }

Json not_available(const std::string& reason) {
  if (reason.empty()) throw std::invalid_argument("a metric that is not available needs a reason");
  return Json{{"na", reason}};
}

std::string text_field(const Json& object, const std::string& key, const std::string& otherwise) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_string()) return otherwise;
  return object.at(key).get<std::string>();
}

bool is_not_available(const Json& figure) { return figure.is_object() && figure.contains("na"); }

}  // namespace zerotax
