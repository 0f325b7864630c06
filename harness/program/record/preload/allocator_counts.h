#pragma once

#include "record/preload/resident_area.h"

namespace zerotax::record {

/// Finds the functions of the allocator's library that return its own counts. Call this at the start of the process,
/// because looking up symbols at its end may wait for a lock.
void find_allocator_counts();

/// Asks the allocator for its own counts. `within_call`: whether this thread is within a call to the allocator, which
/// may hold the locks that the allocator would wait for.
void ask_allocator(bool within_call, AllocatorSays& says);

}  // namespace zerotax::record
