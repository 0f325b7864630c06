#pragma once

#include <cstdint>

#include "zerotax/recorder.h"

namespace zerotax::recorder {

/// Gives a type of event its number (type.word), the same one for the same definition, and writes it into the trace
/// before its first record can be. registry_lock is held. Returns false, which is said, if it is unusable or one too
/// many.
bool register_type(zerotax_type& type);

/// Writes the metadata of a new folder (CTF 1.8, TSDL), with the types that there are. registry_lock is held. Returns 0
/// or an errno value.
int begin_metadata();

/// Writes the clock into it as it is calibrated by now. In place: to replace a file makes some file systems wait for
/// the disk. registry_lock is held. Returns 0 or an errno value.
int update_metadata();

}  // namespace zerotax::recorder
