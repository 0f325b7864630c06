#pragma once

#include <cstddef>
#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// The number of the type (1, 2, …) with this definition; a new number if it is new. 0, with a message, if it is
/// unusable or one too many. Nothing of `type` itself is kept: its library may be closed. registry_lock is held.
std::uint64_t add_type(const zerotax_type& type);

/// Bytes of a record of the type of this number; 0 if no type has it. Any thread.
std::uint64_t record_bytes(std::uint64_t number);

/// The settings of the type of this number: is it recorded, and does its first record end the trace? Any
/// thread.
bool is_skipped(std::uint64_t number);
bool is_trigger(std::uint64_t number);

/// Asks the settings about the types that an earlier trace had, too. Returns whether one of them ends the trace.
/// registry_lock is held.
bool judge_types();

/// All types, in TSDL.
const char* types_text();
std::size_t types_text_bytes();

}  // namespace zerotax::recorder
