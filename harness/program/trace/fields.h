#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "base/json.h"
#include "base/table.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// Returns the value of a field: a number, an array of numbers, or a text. A text ends at its first 0 and may contain
/// any other bytes, as paths do.
Json ctf_field_value(const CtfField& field, const char* bytes);

/// Returns all fields of an event, by name.
Json ctf_fields(const CtfEvent& event);

/// Whether the value of `field` can be read as a T. A program may define an event of a known name with other fields.
template <typename T>
bool is_value_of(const Json& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else if constexpr (std::is_integral_v<T>) {
    return value.is_number_integer();
  } else {
    return value.is_array() && std::all_of(value.begin(), value.end(), is_value_of<typename T::value_type>);
  }
}

/// Returns one field of an event. Returns T{} if the event has no field of this name, or if the field cannot be read as
/// a T.
template <typename T>
T ctf_field(const CtfEvent& event, std::string_view name) {
  const CtfField* field = event.type->field(name);
  if (field == nullptr) return T{};
  const Json value = ctf_field_value(*field, event.bytes + field->offset);
  return is_value_of<T>(value) ? value.get<T>() : T{};
}

/// Formats the event as one line: seconds since `begin_ns`, process, thread, type and fields.
std::string ctf_line(const std::string& process, const CtfEvent& event, std::int64_t begin_ns);

/// Formats a time with its unit, or as "n/a". Input is in nanoseconds.
std::string time_text(const Cell& ns);

}  // namespace zerotax::trace
