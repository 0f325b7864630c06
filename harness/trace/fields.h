#pragma once

#include "base/json.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The value of a field: a number, a text (up to its first 0; bytes that are not UTF-8 replaced), or an array of
/// numbers.
Json ctf_field_value(const CtfField& field, const char* bytes);

/// All fields of an event by name.
Json ctf_fields(const CtfEvent& event);

/// The event in one line: time in seconds since `begin_ns`, process, thread, type and fields.
std::string ctf_line(const std::string& process, const CtfEvent& event, std::int64_t begin_ns);

/// A time of a document, in nanoseconds, with its unit; "n/a" if it is not available.
std::string time_text(const Json& ns);

}  // namespace zerotax::trace
