#pragma once

#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// Assigns a number to a type of event (type.word); the same definition gets the same number. Writes the type into the
/// trace before its first record can appear. The caller must hold registry_lock. Returns the word. Returns 0, and
/// reports the reason, if the type is unusable or there are too many types. A type that ends the trace keeps a word of
/// 0, so that its records take the slow path.
std::uint64_t register_type(zerotax_type& type);

/// Writes the metadata of a new folder (CTF 1.8, TSDL), with the existing types. The caller must hold registry_lock.
/// Returns 0 or an errno value.
int begin_metadata();

/// Writes the clock's current calibration into the metadata. The metadata is overwritten in place, because some file
/// systems wait for the disk when a file is replaced. The caller must hold registry_lock. Returns 0 or an errno value.
int update_metadata();

}  // namespace zerotax::recorder
