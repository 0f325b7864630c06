#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Appends a lane's complete packets to its stream file. Packets that cannot be written are counted as discarded. The
/// caller must hold drain_lock.
void write_lane(Ring& ring, unsigned lane);

/// Like the function above, and also appends the thread's unfinished packet in its current state, even while the thread
/// records. If the stream does not report all discarded records yet, appends an empty packet that does. The caller must
/// hold drain_lock.
void write_end(Ring& ring, unsigned lane);

}  // namespace zerotax::recorder
