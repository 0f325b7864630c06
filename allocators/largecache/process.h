// The process's heap, which the interposed malloc family uses.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_

#include "largecache/large.h"

namespace zerotax::largecache {

/// The heap, which takes its settings from the environment on first use. Usable before any constructor has run. The
/// heap is a global variable, because every small malloc and free reads its threshold, and a function's static variable
/// would be slower. With hidden visibility, the library accesses the variable without the GOT.
[[gnu::visibility("hidden")]] extern constinit LargeHeap process_heap;

/// Returns the heap's policy, after reading it from the environment if necessary.
const Policy& process_policy();

/// Returns the version of largecache and the name of the policy, such as "0.1.0 (adaptive)". Static storage.
const char* version();

/// Makes fork() safe while other threads allocate. Must be called once. Prints a message on standard error if fork
/// handlers cannot be installed.
void install_fork_handlers();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_PROCESS_H_
