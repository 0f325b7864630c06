#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "base/json.h"
#include "base/table.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The value of a field: a number, a text (any bytes up to its first 0, because paths may have any), or an array of
/// numbers.
Json ctf_field_value(const CtfField& field, const char* bytes);

/// All fields of an event by name.
Json ctf_fields(const CtfEvent& event);

/// Whether a field's value can be read as a T. A program's event may have the name of one of ours, but other fields.
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

/// One field of an event; T{} if the event has no field of this name that can be read as a T.
template <typename T>
T ctf_field(const CtfEvent& event, std::string_view name) {
  const CtfField* field = event.type->field(name);
  if (field == nullptr) return T{};
  const Json value = ctf_field_value(*field, event.bytes + field->offset);
  return is_value_of<T>(value) ? value.get<T>() : T{};
}

/// The event in one line: time in seconds since `begin_ns`, process, thread, type and fields.
std::string ctf_line(const std::string& process, const CtfEvent& event, std::int64_t begin_ns);

/// A time in nanoseconds with its unit; "n/a" if it is not available.
std::string time_text(const Cell& ns);

}  // namespace zerotax::trace
