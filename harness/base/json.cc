#include "base/json.h"

#include <stdexcept>

namespace zerotax {

std::string json_text(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

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
