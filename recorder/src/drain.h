#pragma once

#include "ring.h"

namespace zerotax::recorder {

/// Starts the thread that writes complete packets to the stream files. Returns 0 or an errno value.
int start_drain();

/// Stops the thread of start_drain(). Packets that the thread has not written stay in the buffers.
void stop_drain();

/// Wakes the thread of start_drain() if it sleeps, because there is work. Async-signal-safe. Makes no system call if
/// the thread is awake.
void wake_drain();

/// Writes the complete packets of a lane of the caller's own buffer.
void drain_own(Ring& ring, unsigned lane);

/// Writes the complete packets of all buffers.
void drain_all();

/// Writes all of the calling thread's buffer and releases the buffer for another thread.
void leave_ring(Ring& ring);

/// Writes all buffers of an ended generation, including unfinished packets, and removes these buffers.
void finish_rings(std::uint64_t generation);

}  // namespace zerotax::recorder
