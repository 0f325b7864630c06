// The malloc family over a LargeHeap and the small allocator: which of the two a call concerns, and
// the arguments that the C library promises to check. interpose.cc gives these functions their
// names; tests call them here.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_

#include <cstddef>

#include "largecache/large.h"

namespace zerotax::largecache {

// As malloc(3) and posix_memalign(3) say, each for the heap it is given. Sizes and alignments in
// bytes; a failing call returns nullptr with errno ENOMEM (no room, or a product that overflows) or
// EINVAL (an unusable alignment).

void* Malloc(LargeHeap& heap, std::size_t size);
void* Calloc(LargeHeap& heap, std::size_t count, std::size_t size);
/// Size 0 frees and returns nullptr, as glibc's does (libmalloc would return a minimal block).
void* Realloc(LargeHeap& heap, void* pointer, std::size_t size);
void* ReallocArray(LargeHeap& heap, void* pointer, std::size_t count, std::size_t size);
/// Preserves errno. Stops the process if the pointer is at the start of a page and cannot be a block; so do Realloc and
/// UsableSize.
void Free(LargeHeap& heap, void* pointer);

/// EINVAL unless `alignment` is a power of two. `size` need not be a multiple of it (C17).
void* AlignedAlloc(LargeHeap& heap, std::size_t alignment, std::size_t size);
/// Returns 0, EINVAL (unless `alignment` is a power of two and a multiple of sizeof(void*)) or
/// ENOMEM; errno and, on failure, *out stay as they were.
int PosixMemalign(LargeHeap& heap, void** out, std::size_t alignment, std::size_t size);
/// `alignment` is rounded up to a power of two, as glibc does.
void* Memalign(LargeHeap& heap, std::size_t alignment, std::size_t size);
void* Valloc(LargeHeap& heap, std::size_t size);
void* Pvalloc(LargeHeap& heap, std::size_t size);

/// 0 for nullptr.
std::size_t UsableSize(LargeHeap& heap, void* pointer);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
