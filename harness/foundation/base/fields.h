#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// A struct of a result declares its fields once, in the order of its JSON object:
///
///   struct Site {
///     RESULT("site", "A place that zeroed.");
///     FIELD(std::uint64_t, calls, "Number of calls.", least(1));
///     FIELD(Measured<double>, share, "Its share of the CPU time.", most(1));
///     std::uint64_t live_bytes = 0;  // not in the document
///   };
///
/// JSON is written and read by these declarations (here), and the schema is made from them
/// (tests/support/field_schema.h). A std::optional without a value is no key at all, an OrNull without one is null, and
/// both are read from either. A Measured without a value is {"na": why}; one whose key is missing was not measured by
/// the version that wrote the file. A missing key of any other type throws Json::out_of_range: the schema was checked
/// before (files/document.h). ENUM_WORDS(Kind, "malloc", "free") gives the words of an enum, in its order.
///
/// Rooms that do not describe their fields here yet list them in their document.cc, as
/// `ZEROTAX_FIELDS(Site, calls, share)`, with NLOHMANN_JSON_SERIALIZE_ENUM for enums.
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

/// A rule of the schema for a value, besides its type. The rule of a list holds for its elements, and the rule of a
/// Measured for its value.
struct Limit {
  const char* key;
  double number = 0;
  const char* text = nullptr;
};
constexpr Limit least(double value) { return {"minimum", value}; }
constexpr Limit most(double value) { return {"maximum", value}; }
constexpr Limit above(double value) { return {"exclusiveMinimum", value}; }
constexpr Limit least_items(double count) { return {"minItems", count}; }
/// The value matches this regular expression.
constexpr Limit form(const char* expression) { return {"pattern", 0, expression}; }
/// The value is a time as utc_now() writes it.
inline constexpr Limit kUtc = form(R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$)");
/// The value is one of these words: "counted|sampled".
constexpr Limit one_of(const char* words) { return {"enum", 0, words}; }
/// The schema at this reference replaces the schema of the type.
constexpr Limit as_in(const char* reference) { return {"$ref", 0, reference}; }
/// These keys are added to the schema of the value: JSON.
constexpr Limit with(const char* json) { return {"", 0, json}; }
inline constexpr Limit kMayBeEmpty{"minLength"};
inline constexpr Limit kAnySign{"any sign"};
/// Files of earlier versions lack the key.
inline constexpr Limit kLater{"later"};

/// The place of a field in its struct.
template <int>
struct FieldAt {};

template <typename T>
concept HasFields = requires {
  T::kFieldsBegin;
};

/// Calls visit(key, value, description, limits ...) for each field of `object`, a T, in order.
template <typename T, int at = 0>
void visit_fields(auto& object, auto&& visit) {
  if constexpr (requires { T::visit_field(FieldAt<at>{}, object, visit); }) {
    T::visit_field(FieldAt<at>{}, object, visit);
    visit_fields<T, at + 1>(object, visit);
  }
}

template <typename T>
concept HasWords = std::is_enum_v<T> && requires(T value) {
  { words_of(value) } -> std::same_as<std::span<const char* const>>;
};

/// The word for a value of an enum.
template <HasWords T>
const char* word(T value) {
  return words_of(value)[static_cast<std::size_t>(value)];
}

template <HasWords T>
std::vector<std::string> all_words() {
  const auto words = words_of(T{});
  return {words.begin(), words.end()};
}

}  // namespace zerotax

// The number of a field is its distance from RESULT, by __COUNTER__. An inner struct that has fields must therefore be
// declared before the RESULT of the outer one. RESULT needs no description if the field of that type says the same.
#define RESULT(title, ...)                                    \
  static constexpr const char* kTitle = title;                \
  static constexpr const char* kDescription = "" __VA_ARGS__; \
  static constexpr int kFieldsBegin = __COUNTER__ + 1
#define ZEROTAX_VISIT_FIELD(...)                                                                                     \
  static void visit_field(zerotax::FieldAt<__COUNTER__ - kFieldsBegin>, auto& object, auto&& visit) { __VA_ARGS__; } \
  static_assert(true)
/// Describes a member that is declared elsewhere: in a base, or because FIELD cannot name its type.
#define MEMBER(name, ...) ZEROTAX_VISIT_FIELD(visit(#name, object.name, __VA_ARGS__))
#define FIELD(Type, name, ...) \
  MEMBER(name, __VA_ARGS__);   \
  Type name {}
/// All fields of a base.
#define BASE_FIELDS(Base) ZEROTAX_VISIT_FIELD(zerotax::visit_fields<Base>(object, visit))
#define ENUM_WORDS(Enum, ...)                              \
  inline std::span<const char* const> words_of(Enum) {     \
    static constexpr const char* kWords[] = {__VA_ARGS__}; \
    return kWords;                                         \
  }

/// The fields of DocumentHead.
#define SCHEMA_FIELD(name) MEMBER(schema, "Name and version of this format.", one_of(name))
#define VERSION_FIELD() MEMBER(zerotax_version, "Version of zerotax that wrote this file.")
#define STARTED_FIELD() MEMBER(started, "Start time, in UTC.", zerotax::kUtc)
#define ENVIRONMENT_FIELD()                                             \
  MEMBER(environment, "The machine and kernel, as in run.schema.json.", \
         as_in("run.schema.json#/properties/environment"))
#define HEAD_FIELDS(name, of_command, ...) \
  SCHEMA_FIELD(name);                      \
  VERSION_FIELD();                         \
  STARTED_FIELD();                         \
  ENVIRONMENT_FIELD();                     \
  MEMBER(command, of_command, kMayBeEmpty __VA_OPT__(, ) __VA_ARGS__)

template <zerotax::HasFields T>
struct nlohmann::adl_serializer<T> {
  static void to_json(zerotax::Json& json, const T& value) {
    json = zerotax::Json::object();
    zerotax::visit_fields<T>(
        value, [&](const char* key, const auto& field, auto&&...) { zerotax::write_field(json, key, field); });
  }
  static void from_json(const zerotax::Json& json, T& value) {
    zerotax::visit_fields<T>(value,
                             [&](const char* key, auto& field, auto&&...) { zerotax::read_field(json, key, field); });
  }
};

/// An unknown word is read as the first word of the enum.
template <zerotax::HasWords T>
struct nlohmann::adl_serializer<T> {
  static void to_json(zerotax::Json& json, T value) { json = zerotax::word(value); }
  static void from_json(const zerotax::Json& json, T& value) {
    const auto words = words_of(T{});
    std::size_t at = 0;
    while (at < words.size() && json != words[at]) ++at;
    value = static_cast<T>(at < words.size() ? at : 0);
  }
};

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
