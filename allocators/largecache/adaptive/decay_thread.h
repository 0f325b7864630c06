// The thread that gives back what lies idle in the cache of a process that has stopped allocating.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_

#include "largecache/large.h"

namespace zerotax::largecache {

/// Starts one for the heap, which is never destroyed. It ends as soon as nothing is cached any more, so that a process
/// that waits for its last thread waits no longer than the decay time. It takes no signals. False if it cannot start.
bool start_decay_thread(LargeHeap& heap);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_DECAY_THREAD_H_
