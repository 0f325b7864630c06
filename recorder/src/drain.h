#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Starts the thread that writes complete packets to the stream files. Returns 0 or an errno value.
int start_drain();

/// Stops that thread; what it has not written stays in the buffers.
void stop_drain();

/// Wakes it up if it sleeps, because there is work. Async-signal-safe; makes no system call while it is awake.
void wake_drain();

/// Writes the complete packets of this lane of the caller's own buffer.
void drain_own(Ring& ring, unsigned lane);

/// Writes the complete packets of all buffers.
void drain_all();

/// The calling thread no longer needs its buffer: all of it is written, and the next thread may take it.
void leave_ring(Ring& ring);

/// Writes all buffers, including unfinished packets, and removes them. Their generation has ended.
void finish_rings(std::uint64_t generation);

}  // namespace zerotax::recorder
