// Who serves the requests that are not large. Two implementations, one of which is linked:
// small_glibc.cc (the C library beneath its interposed names) and small_plain.cc (whatever malloc
// the process has: a sanitizer's).
//
// libmalloc has regions of its own for them; they are no part of what is emulated here.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_

#include <cstddef>

namespace zerotax::largecache::small {

// As the functions of the same name in malloc(3) and posix_memalign(3), errno included.
void* Malloc(std::size_t size);
void* Calloc(std::size_t count, std::size_t size);
void* Realloc(void* pointer, std::size_t size);
void* Memalign(std::size_t alignment, std::size_t size);
void Free(void* pointer);

/// Bytes of a block in use that one of the above returned; `pointer` is not nullptr.
std::size_t UsableSize(void* pointer);

/// Bytes of the memory that a block would take which starts at `pointer`, at a page's start, if it is one of the above;
/// fewer when it has a mapping of its own; 0 when it can be none. SIZE_MAX when that cannot be known. Follows any
/// pointer.
std::size_t Claimed(void* pointer);

}  // namespace zerotax::largecache::small

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
