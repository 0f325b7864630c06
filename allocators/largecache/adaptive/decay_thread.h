// The thread that returns idle cached memory of a process that has stopped allocating.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_

#include "largecache/large.h"

namespace zerotax::largecache {

/// Starts the thread for the heap. The heap is never destroyed. The thread ends once nothing is cached. If a process
/// waits for all of its threads, this thread delays the process by at most the decay time. The thread takes no signals.
/// Returns false if the thread cannot start.
bool start_decay_thread(LargeHeap& heap);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_
