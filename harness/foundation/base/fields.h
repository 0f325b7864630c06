#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "base/measured.h"

namespace zerotax {

/// A result's struct declares its fields once, in the order of its JSON object:
///
///   struct Site {
///     RESULT("site", "A place that zeroed.");
///     FIELD(std::uint64_t, calls, "Number of calls.", least(1));
///     FIELD(Measured<double>, share, "Share of the CPU time.", most(1));
///     std::uint64_t live_bytes = 0;  // not in the document
///   };
///
/// This file writes and reads JSON by these declarations, and tests/support/field_schema.h makes the schema from them.
/// A std::optional without a value is written without its key, and an OrNull without a value as null. Both types are
/// read from either form. A Measured without a value is {"na": why}. A Measured without a key was not measured by the
/// version that wrote the file. A missing key of any other type throws Json::out_of_range, because the schema was
/// checked before (files/document.h). ENUM_WORDS(Kind, "malloc", "free") declares the words of an enum in the order of
/// its values. A struct with `static constexpr bool kIsRow = true` is written as a list of its values, without keys.
///
/// A struct whose fields must agree has check_fields(), which throws std::invalid_argument.
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

/// A schema rule for a value, in addition to its type. A list's rule applies to each element, and a Measured's rule
/// applies to its value.
struct Limit {
  const char* key;
  double number = 0;
  const char* text = nullptr;
};
constexpr Limit least(double value) { return {"minimum", value}; }
constexpr Limit most(double value) { return {"maximum", value}; }
constexpr Limit above(double value) { return {"exclusiveMinimum", value}; }
constexpr Limit least_items(double count) { return {"minItems", count}; }
/// The rule that the value matches this regular expression.
constexpr Limit form(const char* expression) { return {"pattern", 0, expression}; }
/// The rule that the value is a time in the format of utc_now().
inline constexpr Limit kUtc = form(R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$)");
/// The rule that the value is one of the words in a list such as "counted|sampled".
constexpr Limit one_of(const char* words) { return {"enum", 0, words}; }
/// The rule that the schema at this reference replaces the schema of the type.
constexpr Limit as_in(const char* reference) { return {"$ref", 0, reference}; }
/// Further keys of the value's schema, written as JSON.
constexpr Limit with(const char* json) { return {"", 0, json}; }
inline constexpr Limit kMayBeEmpty{"minLength"};
inline constexpr Limit kAnySign{"any sign"};
/// Files of earlier versions lack the key; reading such a file leaves the field unchanged.
inline constexpr Limit kLater{"later"};
/// An empty string, list or optional is written as null.
inline constexpr Limit kNullIfEmpty{"null if empty"};
/// An empty string or list, or a metric that was never set, is written without its key.
inline constexpr Limit kAbsentIfEmpty{"absent if empty"};

template <typename... Limits>
bool has_limit(const Limit& searched, const Limits&... limits) {
  return ((std::string_view(limits.key) == searched.key) || ...);
}

template <typename T>
bool is_empty(const T& field) {
  if constexpr (requires { field.empty(); }) return field.empty();
  return false;
}
template <typename T>
bool is_empty(const std::optional<T>& field) {
  return !field;
}
/// Whether a metric was never set. A metric that could not be measured is not empty.
template <typename T>
bool is_empty(const Measured<T>& field) {
  return !field && field.why() == Measured<T>().why();
}

template <typename T, typename... Limits>
void write_limited_field(Json& json, const char* key, const T& field, const Limits&... limits) {
  if (has_limit(kAbsentIfEmpty, limits...) && is_empty(field)) return;
  if (has_limit(kNullIfEmpty, limits...) && is_empty(field)) {
    json[key] = nullptr;
    return;
  }
  write_field(json, key, field);
}
template <typename T, typename... Limits>
void read_limited_field(const Json& json, const char* key, T& field, const Limits&... limits) {
  // A Measured is not skipped here, because read_field() turns its missing key into n/a.
  if (has_limit(kLater, limits...) && !requires { field.why(); } && !json.contains(key)) return;
  if (has_limit(kAbsentIfEmpty, limits...) && !json.contains(key)) return;
  if (has_limit(kNullIfEmpty, limits...) && json.at(key).is_null()) return;
  read_field(json, key, field);
}

/// Whether a signal interrupted the measurement before its end.
enum class Completion : std::uint8_t { kComplete, kInterrupted };

/// The position of a field in its struct.
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

/// Returns the keys of a struct, in order.
template <HasFields T>
std::vector<std::string> keys_of() {
  std::vector<std::string> keys;
  T value{};
  visit_fields<T>(value, [&](const char* key, auto&&...) { keys.emplace_back(key); });
  return keys;
}

/// JSON that the schema of `T` describes. tests/support/field_schema.h finds the schema of a type without fields by the
/// member `Written` (a type with the same JSON) or `kSchema` (the schema's text).
template <typename T>
struct JsonOf {
  using Written = T;
  Json json;
};
template <typename T>
void to_json(Json& json, const JsonOf<T>& value) {
  json = value.json;
}
template <typename T>
void from_json(const Json& json, JsonOf<T>& value) {
  value.json = json;
}

template <typename T>
concept HasWords = std::is_enum_v<T> && requires(T value) {
  { words_of(value) } -> std::same_as<std::span<const char* const>>;
};

/// Returns the word for a value of an enum.
template <HasWords T>
const char* word(T value) {
  return words_of(value)[static_cast<std::size_t>(value)];
}

inline std::span<const char* const> words_of(Completion) {
  static constexpr const char* kWords[] = {"complete", "interrupted"};
  return kWords;
}
inline Completion completion(bool complete) { return complete ? Completion::kComplete : Completion::kInterrupted; }

template <HasWords T>
std::vector<std::string> all_words() {
  const auto words = words_of(T{});
  return {words.begin(), words.end()};
}

}  // namespace zerotax

// A field's number is its distance from RESULT, counted by __COUNTER__. An inner struct with fields must therefore be
// declared before the RESULT of the outer struct. RESULT needs no description if the struct is described by the outer
// field that contains it.
#define RESULT(title, ...)                                    \
  static constexpr const char* kTitle = title;                \
  static constexpr const char* kDescription = "" __VA_ARGS__; \
  static constexpr int kFieldsBegin = __COUNTER__ + 1
#define ZEROTAX_VISIT_FIELD(...)                                                                                     \
  static void visit_field(zerotax::FieldAt<__COUNTER__ - kFieldsBegin>, auto& object, auto&& visit) { __VA_ARGS__; } \
  static_assert(true)
/// Describes a member declared elsewhere: in a base, or by hand because FIELD cannot name its type.
#define MEMBER(name, ...) MEMBER_AS(#name, name, __VA_ARGS__)
#define FIELD(Type, name, ...) \
  MEMBER(name, __VA_ARGS__);   \
  Type name {}
/// Declares a field whose key differs from its name, because the key is a C++ keyword, or the field is a member of a
/// member.
#define MEMBER_AS(key, name, ...) ZEROTAX_VISIT_FIELD(visit(key, object.name, __VA_ARGS__))
#define FIELD_AS(key, Type, name, ...) \
  MEMBER_AS(key, name, __VA_ARGS__);   \
  Type name {}
/// Adds all fields of a base.
#define BASE_FIELDS(Base) ZEROTAX_VISIT_FIELD(zerotax::visit_fields<Base>(object, visit))
#define ENUM_WORDS(Enum, ...)                              \
  inline std::span<const char* const> words_of(Enum) {     \
    static constexpr const char* kWords[] = {__VA_ARGS__}; \
    return kWords;                                         \
  }

/// Adds all fields of a member to the fields of the struct.
#define PART_FIELDS(Part, name) ZEROTAX_VISIT_FIELD(zerotax::visit_fields<Part>(object.name, visit))

/// These macros declare the fields of DocumentHead.
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

/// Rows are only written, never read.
template <zerotax::HasFields T>
struct nlohmann::adl_serializer<T> {
  static void to_json(zerotax::Json& json, const T& value) {
    if constexpr (requires { T::kIsRow; }) {
      json = zerotax::Json::array();
      return zerotax::visit_fields<T>(
          value, [&](const char*, const auto& field, auto&&...) { json.push_back(zerotax::Json(field)); });
    }
    json = zerotax::Json::object();
    zerotax::visit_fields<T>(value, [&](const char* key, const auto& field, const char*, const auto&... limits) {
      zerotax::write_limited_field(json, key, field, limits...);
    });
  }
  static void from_json(const zerotax::Json& json, T& value) {
    zerotax::visit_fields<T>(value, [&](const char* key, auto& field, const char*, const auto&... limits) {
      zerotax::read_limited_field(json, key, field, limits...);
    });
    if constexpr (requires { value.check_fields(); }) value.check_fields();
  }
};

/// Reads an unknown word as the first word of the enum.
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
