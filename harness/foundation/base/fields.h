#pragma once

#include <optional>

#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// Structs as JSON objects whose keys are the names of their fields. A room's document.h declares
///
///   void to_json(Json& json, const Site& site);
///   void from_json(const Json& json, Site& site);
///
/// and its document.cc says `ZEROTAX_FIELDS(Site, calls, zeroed_bytes, frames)`, in the order of the file. A
/// std::optional without a value is no key at all, an OrNull without one is null, and both are read from either. A
/// Measured without a value is {"na": why}; one whose key is missing was not measured by the version that wrote the
/// file. A missing key of any other type throws Json::out_of_range: the schema was checked before (files/document.h).
/// Enums: NLOHMANN_JSON_SERIALIZE_ENUM.
template <typename T>
struct OrNull : std::optional<T> {
  using std::optional<T>::optional;
};

template <typename T>
void write_field(Json& json, const char* key, const T& value) {
  json[key] = value;
}
template <typename T>
void write_field(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}
template <typename T>
void write_field(Json& json, const char* key, const OrNull<T>& value) {
  json[key] = value ? Json(*value) : Json();
}
template <typename T>
void read_field(const Json& json, const char* key, T& value) {
  json.at(key).get_to(value);
}
template <typename T>
void read_field(const Json& json, const char* key, Measured<T>& value) {
  const auto found = json.find(key);
  value = found == json.end() ? NotAvailable{"an earlier version wrote this file"} : found->template get<Measured<T>>();
}
template <typename T>
void read_field(const Json& json, const char* key, std::optional<T>& value) {
  const auto found = json.find(key);
  value = found == json.end() || found->is_null() ? std::nullopt : std::optional<T>(found->template get<T>());
}
template <typename T>
void read_field(const Json& json, const char* key, OrNull<T>& value) {
  read_field(json, key, static_cast<std::optional<T>&>(value));
}

}  // namespace zerotax

template <typename T>
struct nlohmann::adl_serializer<zerotax::Measured<T>> {
  static void to_json(zerotax::Json& json, const zerotax::Measured<T>& measured) {
    if (measured) {
      json = *measured;
    } else {
      json = zerotax::not_available(measured.why());
    }
  }
  static void from_json(const zerotax::Json& json, zerotax::Measured<T>& measured) {
    if (zerotax::is_not_available(json)) {
      measured = zerotax::NotAvailable{json.at("na").template get<std::string>()};
    } else {
      measured = json.template get<T>();
    }
  }
};

#define ZEROTAX_WRITE_FIELD(field) zerotax::write_field(json, #field, value.field);
#define ZEROTAX_READ_FIELD(field) zerotax::read_field(json, #field, value.field);
#define ZEROTAX_FIELDS_WRITTEN(Type, ...)                                       \
  void to_json(zerotax::Json& json, const Type& value) {                        \
    json = zerotax::Json::object();                                             \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, __VA_ARGS__)) \
  }
#define ZEROTAX_FIELDS_READ(Type, ...)                                         \
  void from_json(const zerotax::Json& json, Type& value) {                     \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_READ_FIELD, __VA_ARGS__)) \
  }
#define ZEROTAX_FIELDS(Type, ...)           \
  ZEROTAX_FIELDS_WRITTEN(Type, __VA_ARGS__) \
  ZEROTAX_FIELDS_READ(Type, __VA_ARGS__)
