// The malloc family over a LargeHeap and the small allocator. These functions choose between the two, and check the
// arguments as the C library promises. interpose.cc gives the functions their public names; tests call them here.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_

#include <cstddef>

#include "largecache/large.h"
#include "largecache/pages.h"
#include "largecache/small.h"

namespace zerotax::largecache {

// Behave as malloc(3) and posix_memalign(3) specify, each for the given heap. Sizes and alignments are in bytes. A
// failed call returns nullptr and sets errno to ENOMEM (no room, or a product that overflows) or EINVAL (an invalid
// alignment).

/// The complete functions. The inline functions below call them unless a quick check shows that only the C library is
/// concerned. `free` and `usable_size` of this namespace require nullptr or the start of a page.
namespace complete {
void* malloc(LargeHeap& heap, std::size_t size);
void* calloc(LargeHeap& heap, std::size_t count, std::size_t size);
void* realloc(LargeHeap& heap, void* pointer, std::size_t size);
void free(LargeHeap& heap, void* pointer);
std::size_t usable_size(LargeHeap& heap, void* pointer);
}  // namespace complete

// These functions are inline, because programs call them for small blocks a million times a second.

inline void* malloc(LargeHeap& heap, std::size_t size) {
  return heap.may_be_large(size) ? complete::malloc(heap, size) : small::allocate(size);
}

inline void* calloc(LargeHeap& heap, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || heap.may_be_large(bytes))
    return complete::calloc(heap, count, size);
  return small::allocate_zero(count, size);
}

/// Size 0 frees the block and returns nullptr, as in glibc (libmalloc would return a minimal block).
inline void* realloc(LargeHeap& heap, void* pointer, std::size_t size) {
  if (is_page_aligned(pointer) || size == 0 || heap.may_be_large(size)) return complete::realloc(heap, pointer, size);
  return small::reallocate(pointer, size);
}

/// Preserves errno. Stops the process if the pointer is at the start of a page and cannot be a block, as realloc and
/// usable_size do.
inline void free(LargeHeap& heap, void* pointer) {
  if (is_page_aligned(pointer)) return complete::free(heap, pointer);
  small::deallocate(pointer);
}

/// Returns 0 for nullptr.
inline std::size_t usable_size(LargeHeap& heap, void* pointer) {
  return is_page_aligned(pointer) ? complete::usable_size(heap, pointer) : small::usable_size(pointer);
}

void* reallocarray(LargeHeap& heap, void* pointer, std::size_t count, std::size_t size);

/// Fails with EINVAL unless `alignment` is a power of two. `size` need not be a multiple of `alignment` (C17).
void* aligned_alloc(LargeHeap& heap, std::size_t alignment, std::size_t size);
/// Returns 0, EINVAL (unless `alignment` is a power of two and a multiple of sizeof(void*)) or ENOMEM. Leaves errno
/// unchanged. On failure, also leaves *out unchanged.
int posix_memalign(LargeHeap& heap, void** out, std::size_t alignment, std::size_t size);
/// Rounds `alignment` up to a power of two, as glibc does.
void* memalign(LargeHeap& heap, std::size_t alignment, std::size_t size);
void* valloc(LargeHeap& heap, std::size_t size);
void* pvalloc(LargeHeap& heap, std::size_t size);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
