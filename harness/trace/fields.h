#pragma once

#include "base/json.h"
#include "base/table.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The value of a field: a number, a text (any bytes up to its first 0, because paths may have any), or an array of
/// numbers.
Json ctf_field_value(const CtfField& field, const char* bytes);

/// All fields of an event by name.
Json ctf_fields(const CtfEvent& event);

/// One field of an event; T{} if it has none of this name.
template <typename T>
T ctf_field(const CtfEvent& event, std::string_view name) {
  const CtfField* field = event.type->field(name);
  return field == nullptr ? T{} : ctf_field_value(*field, event.bytes + field->offset).get<T>();
}

/// The event in one line: time in seconds since `begin_ns`, process, thread, type and fields.
std::string ctf_line(const std::string& process, const CtfEvent& event, std::int64_t begin_ns);

/// A time in nanoseconds with its unit; "n/a" if it is not available.
std::string time_text(const Cell& ns);

}  // namespace zerotax::trace
