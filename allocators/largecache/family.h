// The malloc family over a LargeHeap and the small allocator: which of the two a call concerns, and
// the arguments that the C library promises to check. interpose.cc gives these functions their
// names; tests call them here.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_

#include <cstddef>

#include "largecache/large.h"
#include "largecache/pages.h"
#include "largecache/small.h"

namespace zerotax::largecache {

// As malloc(3) and posix_memalign(3) say, each for the heap it is given. Sizes and alignments in
// bytes; a failing call returns nullptr with errno ENOMEM (no room, or a product that overflows) or
// EINVAL (an unusable alignment).

/// What the functions below do unless a glance shows that the C library is concerned alone. Free and UsableSize are
/// given nullptr or the start of a page.
namespace complete {
void* Malloc(LargeHeap& heap, std::size_t size);
void* Calloc(LargeHeap& heap, std::size_t count, std::size_t size);
void* Realloc(LargeHeap& heap, void* pointer, std::size_t size);
void Free(LargeHeap& heap, void* pointer);
std::size_t UsableSize(LargeHeap& heap, void* pointer);
}  // namespace complete

// In line, as programs call these for small blocks a million times a second.

inline void* Malloc(LargeHeap& heap, std::size_t size) {
  return heap.MayBeLarge(size) ? complete::Malloc(heap, size) : small::Malloc(size);
}

inline void* Calloc(LargeHeap& heap, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || heap.MayBeLarge(bytes)) return complete::Calloc(heap, count, size);
  return small::Calloc(count, size);
}

/// Size 0 frees and returns nullptr, as glibc's does (libmalloc would return a minimal block).
inline void* Realloc(LargeHeap& heap, void* pointer, std::size_t size) {
  if (IsPageAligned(pointer) || size == 0 || heap.MayBeLarge(size)) return complete::Realloc(heap, pointer, size);
  return small::Realloc(pointer, size);
}

/// Preserves errno. Stops the process if the pointer is at the start of a page and cannot be a block; so do Realloc and
/// UsableSize.
inline void Free(LargeHeap& heap, void* pointer) {
  if (IsPageAligned(pointer)) return complete::Free(heap, pointer);
  small::Free(pointer);
}

/// 0 for nullptr.
inline std::size_t UsableSize(LargeHeap& heap, void* pointer) {
  return IsPageAligned(pointer) ? complete::UsableSize(heap, pointer) : small::UsableSize(pointer);
}

void* ReallocArray(LargeHeap& heap, void* pointer, std::size_t count, std::size_t size);

/// EINVAL unless `alignment` is a power of two. `size` need not be a multiple of it (C17).
void* AlignedAlloc(LargeHeap& heap, std::size_t alignment, std::size_t size);
/// Returns 0, EINVAL (unless `alignment` is a power of two and a multiple of sizeof(void*)) or
/// ENOMEM; errno and, on failure, *out stay as they were.
int PosixMemalign(LargeHeap& heap, void** out, std::size_t alignment, std::size_t size);
/// `alignment` is rounded up to a power of two, as glibc does.
void* Memalign(LargeHeap& heap, std::size_t alignment, std::size_t size);
void* Valloc(LargeHeap& heap, std::size_t size);
void* Pvalloc(LargeHeap& heap, std::size_t size);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_FAMILY_H_
