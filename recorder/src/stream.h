#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Appends a lane's complete packets to its stream file; what cannot be written is counted as discarded. drain_lock is
/// held.
void write_lane(Ring& ring, unsigned lane);

/// The same, plus the thread's unfinished packet in its current state, whatever the thread does meanwhile; and if the
/// stream does not yet say how many records were discarded, an empty packet that does. drain_lock is held.
void write_end(Ring& ring, unsigned lane);

}  // namespace zerotax::recorder
