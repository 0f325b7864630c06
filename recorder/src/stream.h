#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Appends what is complete of a lane to its stream file; what cannot be written is counted as discarded. drain_lock is
/// held.
void write_lane(Ring& ring, unsigned lane);

/// The same, and the packet that the thread has begun, as far as it is, whatever the thread does meanwhile; and if the
/// stream does not say yet how many records were discarded, an empty packet that does. drain_lock is held.
void write_end(Ring& ring, unsigned lane);

}  // namespace zerotax::recorder
