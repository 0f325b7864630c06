// The process's one heap: what the interposed malloc family uses.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_

#include "largecache/large.h"

namespace zerotax::largecache {

/// The heap, configured from the environment when it is first needed. Usable before any constructor has run.
///
/// A variable rather than a function's static, because every small malloc and free asks it for the threshold. Hidden
/// visibility lets the library reach it without a detour through the GOT.
[[gnu::visibility("hidden")]] extern constinit LargeHeap process_heap;

/// The heap's policy, read from the environment if it has not been yet.
const Policy& process_policy();

/// "0.1.0 (adaptive)": our version, and the name of the policy. Static storage.
const char* version();

/// Makes fork() safe while other threads allocate. Call once; says so on standard error when it
/// cannot.
void install_fork_handlers();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_
