// The process's own malloc family, for sanitizer builds. The sanitizer's allocator must see every block. Nothing is
// interposed in these builds, so the names do not refer to our functions.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>

#include "largecache/small.h"

namespace zerotax::largecache::small {

void* allocate(std::size_t size) { return std::malloc(size); }
void* allocate_zero(std::size_t count, std::size_t size) { return std::calloc(count, size); }
void* reallocate(void* pointer, std::size_t size) { return std::realloc(pointer, size); }
void* allocate_aligned(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
void deallocate(void* pointer) { std::free(pointer); }
std::size_t usable_size(void* pointer) { return malloc_usable_size(pointer); }

void keep_heap() {}
void note_heap() {}
void trim_heap() {}

std::size_t claimed(void* /*pointer*/) { return SIZE_MAX; }

}  // namespace zerotax::largecache::small
