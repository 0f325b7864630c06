#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Starts the thread that writes packets to the stream files as they become complete. Returns 0 or an errno value.
int start_drain();

/// Ends it; what it has not written stays in the buffers.
void stop_drain();

/// Tells it that there is work, if it sleeps. Async-signal-safe, and no system call while it is awake.
void wake_drain();

/// Writes what is complete of this lane of the caller's own buffer.
void drain_own(Ring& ring, unsigned lane);

/// Writes what is complete of all buffers.
void drain_all();

/// The calling thread has no use for its buffer any more: all of it is written, and the next thread may have it.
void leave_ring(Ring& ring);

/// Writes all buffers, begun packets included, and removes them. Their generation has ended.
void finish_rings(std::uint64_t generation);

}  // namespace zerotax::recorder
