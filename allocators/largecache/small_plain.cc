// The process's own malloc family: for builds under a sanitizer, whose allocator must see every
// block and where nothing is interposed, so that these names are not ours.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>

#include "largecache/small.h"

namespace zerotax::largecache::small {

void* Malloc(std::size_t size) { return std::malloc(size); }
void* Calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
void* Realloc(void* pointer, std::size_t size) { return std::realloc(pointer, size); }
void* Memalign(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
void Free(void* pointer) { std::free(pointer); }
std::size_t UsableSize(void* pointer) { return malloc_usable_size(pointer); }

void KeepHeap() {}
void NoteHeap() {}
void TrimHeap() {}

std::size_t Claimed(void* /*pointer*/) { return SIZE_MAX; }

}  // namespace zerotax::largecache::small
