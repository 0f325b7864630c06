#pragma once

#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// Gives a type of event its number (type.word), the same one for the same definition, and writes it into the trace
/// before its first record can appear. registry_lock is held. Returns the word; 0, and reports why, if the type is
/// unusable or one too many. A type that ends the trace keeps a word of 0, so that its records take the longer path.
std::uint64_t register_type(zerotax_type& type);

/// Writes the metadata of a new folder (CTF 1.8, TSDL), with the existing types. registry_lock is held. Returns 0 or an
/// errno value.
int begin_metadata();

/// Writes the clock's current calibration into it. In place, because replacing a file makes some file systems wait for
/// the disk. registry_lock is held. Returns 0 or an errno value.
int update_metadata();

}  // namespace zerotax::recorder
