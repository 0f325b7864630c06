// The allocator for requests that are not large. Either small_glibc.cc or small_plain.cc is linked. small_glibc.cc
// calls glibc's own malloc by names that are not interposed. small_plain.cc calls the process's malloc, such as a
// sanitizer's. libmalloc's separate regions for small requests are not emulated.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_

#include <cstddef>

namespace zerotax::largecache::small {

// Behave like malloc, calloc, realloc, memalign and free in malloc(3) and posix_memalign(3), including errno.
void* allocate(std::size_t size);
void* allocate_zero(std::size_t count, std::size_t size);
void* reallocate(void* pointer, std::size_t size);
void* allocate_aligned(std::size_t alignment, std::size_t size);
void deallocate(void* pointer);

/// Returns the usable bytes of a block in use from one of these functions; `pointer` is not nullptr.
std::size_t usable_size(void* pointer);

/// Returns the memory in bytes that the block at `pointer`, the start of a page, would take if one of these functions
/// had returned `pointer`. The result is smaller if the block has its own mapping, 0 if `pointer` cannot be such a
/// block, and SIZE_MAX if unknown. Accepts any pointer.
std::size_t claimed(void* pointer);

/// Must be called once, early. Makes claimed() cheaper for heap memory that is added later.
void note_heap();

/// Keeps freed memory for reuse until trim_heap(), unless the user set the C library's own knobs.
void keep_heap();

/// Returns all free memory to the kernel.
void trim_heap();

}  // namespace zerotax::largecache::small

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_SMALL_H_
