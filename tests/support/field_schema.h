#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "base/fields.h"
#include "schema_text.h"

namespace zerotax {

template <typename T>
inline constexpr bool kOptional = false;
template <typename T>
inline constexpr bool kOptional<std::optional<T>> = true;

/// The JSON schema of a struct that describes its fields (base/fields.h). Structs inside the struct become $defs, by
/// their titles, unless the inner struct has `static constexpr bool kInline = true`. Unless a limit says otherwise, a
/// number is at least 0, and a string is not empty. Every key is required, except the keys of a std::optional and the
/// keys with kLater or kAbsentIfEmpty. Unknown keys are not allowed.
class FieldSchema {
 public:
  /// Returns the schema of a document that is one of these structs. The schema has an alternative for each struct.
  template <typename... Results>
  static Json of_any(const std::string& id, const std::string& title, const std::string& description) {
    FieldSchema schema;
    const Json alternatives{schema.definition<Results>()...};
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"$id", id},
            {"title", title},
            {"description", description},
            {"oneOf", alternatives},
            {"$defs", schema.definitions_}};
  }

  template <typename T>
  static Json of(const std::string& id) {
    FieldSchema schema;
    Json json{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", id}};
    json.update(schema.object<T>());
    if (!schema.definitions_.empty()) json["$defs"] = schema.definitions_;
    return json;
  }

 private:
  template <typename T>
  struct Type {
    static Json schema(FieldSchema& all) {
      if constexpr (std::is_same_v<T, Json>) {
        return Json::object();
      } else if constexpr (std::is_same_v<T, bool>) {
        return {{"type", "boolean"}};
      } else if constexpr (HasWords<T>) {
        const auto words = words_of(T{});
        return {{"enum", std::vector<std::string>(words.begin(), words.end())}};
      } else if constexpr (std::is_arithmetic_v<T>) {
        return {{"type", std::is_integral_v<T> ? "integer" : "number"}, {"minimum", 0}};
      } else if constexpr (std::is_same_v<T, std::string>) {
        return {{"type", "string"}, {"minLength", 1}};
      } else if constexpr (requires { T::kInline; }) {
        return all.object<T>();
      } else if constexpr (requires { typename T::Written; }) {
        return Type<typename T::Written>::schema(all);  // the document contains another type, whose schema is used
      } else if constexpr (requires { T::kSchema; }) {
        return Json::parse(T::kSchema);  // the type has its own schema
      } else if constexpr (HasFields<T>) {
        return all.definition<T>();
      } else {
        return {{kNoSchema, typeid(T).name()}};  // a limit has to replace this schema
      }
    }
  };
  template <typename T>
  struct Type<std::optional<T>> : Type<T> {};
  template <typename T>
  struct Type<OrNull<T>> {
    static Json schema(FieldSchema& all) { return {{"anyOf", {Type<T>::schema(all), {{"type", "null"}}}}}; }
  };
  template <typename T>
  struct Type<Measured<T>> {
    static Json schema(FieldSchema& all) {
      return {{"anyOf", {Type<T>::schema(all), {{"$ref", "point.schema.json#/$defs/na"}}}}};
    }
  };
  template <typename T>
  struct Type<std::vector<T>> {
    static Json schema(FieldSchema& all) { return {{"type", "array"}, {"items", Type<T>::schema(all)}}; }
  };
  template <typename T>
  struct Type<std::set<T>> {
    static Json schema(FieldSchema& all) {
      return {{"type", "array"}, {"uniqueItems", true}, {"items", Type<T>::schema(all)}};
    }
  };
  template <typename T, std::size_t size>
  struct Type<std::array<T, size>> {
    static Json schema(FieldSchema& all) {
      return {{"type", "array"}, {"minItems", size}, {"maxItems", size}, {"items", Type<T>::schema(all)}};
    }
  };
  template <typename T>
  struct Type<std::map<std::string, T>> {
    static Json schema(FieldSchema& all) {
      return {{"type", "object"}, {"additionalProperties", Type<T>::schema(all)}};
    }
  };
  template <typename T>
  Json definition() {
    std::string name = T::kTitle;
    for (char& each : name) each = each == ' ' ? '_' : each;
    const auto [known, is_new] = types_.emplace(name, &typeid(T));
    if (*known->second != typeid(T)) throw std::logic_error("two structs have the title " + name);
    if (is_new) {
      definitions_[name] = Json();  // puts the name before the definitions, which object() adds later
      definitions_[name] = object<T>();
    }
    return {{"$ref", "#/$defs/" + name}};
  }

  template <typename T>
  Json object() {
    Json properties = Json::object();
    Json required = Json::array();
    if constexpr (requires { T::kDocument; }) {
      properties = {
          {"schema", {{"description", "Name and version of this format."}, {"enum", {T::kDocument}}}},
          {"zerotax_version",
           {{"description", "Version of zerotax that wrote this file."}, {"type", "string"}, {"minLength", 1}}}};
      required = {"schema", "zerotax_version"};
    }
    T value{};
    visit_fields<T>(value, [&](const char* key, auto& field, const char* description, auto... limits) {
      using Field = std::remove_cvref_t<decltype(field)>;
      const std::array<Limit, sizeof...(limits)> all{limits...};
      Json property{{"description", description}};
      // A property that is only a reference needs no definition of its own.
      if (!has_limit(as_in(""), limits...)) property.update(Type<Field>::schema(*this));
      bool is_required = !kOptional<Field> || has_limit(kNullIfEmpty, limits...);
      for (const Limit& limit : all) {
        if (limit.key == kLater.key || limit.key == kAbsentIfEmpty.key) {
          is_required = false;
        } else if (limit.key != kNullIfEmpty.key) {
          apply(limit, property);
        }
      }
      if (has_limit(kNullIfEmpty, limits...)) allow_null(property);
      if (property.contains(kNoSchema)) throw std::logic_error(std::string("no schema of ") + key);
      properties[key] = property;
      if (is_required) required.push_back(key);
    });
    Json schema{{"title", T::kTitle}};
    if (*T::kDescription != 0) schema["description"] = T::kDescription;
    if constexpr (requires { T::kIsRow; }) {
      schema.update({{"type", "array"}, {"minItems", required.size()}, {"items", false}});
      for (const Json& value : properties) schema["prefixItems"].push_back(value);
      return schema;
    }
    schema.update({{"type", "object"}, {"additionalProperties", false}});
    if constexpr (requires { T::kMore; }) schema.update(Json::parse(T::kMore));
    schema["required"] = required;
    schema["properties"] = properties;
    return schema;
  }

  static constexpr const char* kNoSchema = "no schema";

  static void allow_null(Json& property) {
    Json value = property;
    value.erase("description");
    property = {{"description", property["description"]}, {"anyOf", {value, {{"type", "null"}}}}};
  }

  static Json words(const std::string& text) {
    Json all = Json::array();
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
      end = text.find('|', at);
      all.push_back(text.substr(at, end - at));
    }
    return all;
  }

  static void apply(const Limit& limit, Json& schema) {
    const std::string key = limit.key;
    if (key.empty()) {
      const Json more = Json::parse(limit.text);
      if (!more.empty()) schema.erase(kNoSchema);
      schema.update(more);
    } else if (key == "$ref") {
      schema = {{"description", schema["description"]}, {"$ref", limit.text}};
    } else if (schema.contains("anyOf")) {
      apply(limit, schema["anyOf"][0]);
    } else if (schema.contains("items") && key != "minItems" && key != "maxItems") {
      apply(limit, schema["items"]);
    } else if (schema.contains("additionalProperties")) {
      apply(limit, schema["additionalProperties"]);
    } else if (key == kAnySign.key) {
      schema.erase("minimum");
    } else if (key == kMayBeEmpty.key) {
      schema.erase("minLength");
    } else if (key == "enum") {
      for (const char* of_text : {"type", "minLength"}) schema.erase(of_text);
      schema["enum"] = words(limit.text);
    } else if (limit.text != nullptr) {
      schema.erase("minLength");
      schema[key] = limit.text;
    } else {
      if (key == "exclusiveMinimum") schema.erase("minimum");
      schema[key] = limit.number;
      if (limit.number == static_cast<double>(static_cast<std::int64_t>(limit.number))) {
        schema[key] = static_cast<std::int64_t>(limit.number);
      }
    }
  }

  Json definitions_ = Json::object();
  std::map<std::string, const std::type_info*> types_;
};

/// Expects that results/schema/NAME.schema.json has an alternative for each of the structs.
template <typename... Results>
void expect_schemas(const std::string& name, const std::string& description) {
  const std::string file = name + ".schema.json";
  expect_committed(ZEROTAX_SOURCE_DIR "/results/schema/" + file,
                   schema_text(FieldSchema::of_any<Results...>(file, "zerotax " + name, description)), "project_tests");
}

/// Expects that results/schema/NAME.schema.json is the schema of the struct.
template <typename Result>
void expect_schema(const std::string& name) {
  const std::string file = name + ".schema.json";
  expect_committed(ZEROTAX_SOURCE_DIR "/results/schema/" + file, schema_text(FieldSchema::of<Result>(file)),
                   "project_tests");
}

}  // namespace zerotax
