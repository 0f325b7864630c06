// Who serves the requests that are not large. Two implementations, one of which is linked:
// small_glibc.cc (the C library beneath its interposed names) and small_plain.cc (whatever malloc
// the process has: a sanitizer's).
//
// libmalloc has regions of its own for them; those are not emulated here.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_

#include <cstddef>

namespace zerotax::largecache::small {

// As malloc, calloc, realloc, memalign and free in malloc(3) and posix_memalign(3), errno included.
void* allocate(std::size_t size);
void* allocate_zero(std::size_t count, std::size_t size);
void* reallocate(void* pointer, std::size_t size);
void* allocate_aligned(std::size_t alignment, std::size_t size);
void deallocate(void* pointer);

/// Bytes of a block in use that one of the above returned; `pointer` is not nullptr.
std::size_t usable_size(void* pointer);

/// Bytes of memory that a block at `pointer`, the start of a page, would take if it is one of the above; fewer if it
/// has a mapping of its own; 0 if it cannot be one. SIZE_MAX if that cannot be known. Dereferences any pointer.
std::size_t claimed(void* pointer);

/// Call it once, early: it makes claimed() cheaper for what the heap will hold from now on.
void note_heap();

/// Keeps memory that was freed for what will need it, until trim_heap(); unless the user set the C library's own knobs.
void keep_heap();

/// Gives back all that is free.
void trim_heap();

}  // namespace zerotax::largecache::small

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
