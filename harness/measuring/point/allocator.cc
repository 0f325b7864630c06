#include "point/allocator.h"

namespace zerotax {

Json version_json(const Allocator& allocator) {
  if (allocator.version.empty()) return not_available("the library states no version and has no build-id");
  return allocator.version;
}

std::string name_and_version(const Allocator& allocator) {
  return allocator.name + (allocator.version.empty() ? "" : " " + allocator.version);
}

Json allocator_json(const Allocator& allocator) {
  Json json;
  json["name"] = allocator.name;
  json["version"] = version_json(allocator);
  json["preload"] = allocator.preload ? Json(*allocator.preload) : Json(nullptr);
  json["env"] = Json::object();
  for (const auto& [key, value] : allocator.env) json["env"][key] = value;
  return json;
}

}  // namespace zerotax
