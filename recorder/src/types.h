#pragma once

#include <cstddef>
#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// Returns the number of the type (1, 2, …) with this definition, adding the type if it is new. Returns 0, with a
/// message, if the type is unusable or there are too many types. No pointer into `type` is kept, because its library
/// may be closed. The caller must hold registry_lock.
std::uint64_t add_type(const zerotax_type& type);

/// Returns the bytes of a record of this type, or 0 if the number is unused. May be called from any thread.
std::uint64_t record_bytes(std::uint64_t number);

/// is_skipped() returns whether the settings exclude this type. is_trigger() returns whether the type's first record
/// ends the trace. May be called from any thread.
bool is_skipped(std::uint64_t number);
bool is_trigger(std::uint64_t number);

/// Applies the settings to all types, including types of an earlier trace. Returns whether any type ends the trace. The
/// caller must hold registry_lock.
bool judge_types();

/// Returns the text of all types, in TSDL.
const char* types_text();
std::size_t types_text_bytes();

}  // namespace zerotax::recorder
