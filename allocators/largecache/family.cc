#include "largecache/family.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "largecache/message.h"
#include "largecache/pages.h"
#include "largecache/small.h"

namespace zerotax::largecache {
namespace {

void* Fail(int error) {
  errno = error;
  return nullptr;
}

// Not std::has_single_bit: without popcnt in the base instruction set it calls libgcc, and the
// library would need libgcc_s.so for that.
bool IsPowerOfTwo(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

// A pointer to the start of a page that is not a large block. Stops the process, naming the pointer, unless it may be a
// small block: no small block's header gives more than twice the threshold; 1 MiB allows for blocks from before the
// threshold was known.
void StopUnlessSmall(LargeHeap& heap, void* pointer, const char* call) {
  constexpr std::size_t kFromTheStart = std::size_t{1} << 20;
  const std::size_t claimed = small::Claimed(pointer);
  if (claimed == SIZE_MAX || (claimed != 0 && (claimed <= kFromTheStart || !heap.IsLarge(claimed / 2)))) return;
  Message message;
  message.Text(call).Text(": ").Pointer(pointer);
  message.Text(" is no block: never was, or has been freed before; see where it comes from").Send();
  std::abort();
}

// `alignment` is a power of two.
void* Align(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  return heap.IsLarge(size, alignment) ? heap.Allocate(size, alignment, Contents::kAny)
                                       : small::Memalign(alignment, size);
}

}  // namespace

namespace complete {

void* Malloc(LargeHeap& heap, std::size_t size) {
  return heap.IsLarge(size) ? heap.Allocate(size, 1, Contents::kAny) : small::Malloc(size);
}

void* Calloc(LargeHeap& heap, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return Fail(ENOMEM);
  return heap.IsLarge(bytes) ? heap.Allocate(bytes, 1, Contents::kZero) : small::Calloc(count, size);
}

void* Realloc(LargeHeap& heap, void* pointer, std::size_t size) {
  if (pointer == nullptr) return largecache::Malloc(heap, size);
  if (size == 0) {
    largecache::Free(heap, pointer);
    return nullptr;
  }
  std::size_t old_size = IsPageAligned(pointer) ? heap.UsableSize(pointer) : 0;
  if (old_size != 0) {
    if (heap.ResizeInPlace(pointer, old_size, size)) return pointer;
    if (void* const moved = heap.MoveGrown(pointer, old_size, size)) return moved;
    old_size = heap.Asked(pointer);
  } else {
    if (IsPageAligned(pointer)) StopUnlessSmall(heap, pointer, "realloc");
    if (!heap.IsLarge(size)) return small::Realloc(pointer, size);
    old_size = small::UsableSize(pointer);
  }
  void* const moved =
      heap.IsLarge(size) ? heap.Allocate(size, 1, Contents::kAny, size > old_size) : small::Malloc(size);
  if (moved == nullptr) return nullptr;
  // libmalloc uses vm_copy, copy-on-write, for 128 KiB or more; Linux has no such call for private
  // memory.
  std::memcpy(moved, pointer, std::min(old_size, size));
  largecache::Free(heap, pointer);
  return moved;
}

void Free(LargeHeap& heap, void* pointer) {
  if (pointer == nullptr || heap.Free(pointer)) return;
  StopUnlessSmall(heap, pointer, "free");
  small::Free(pointer);
}

std::size_t UsableSize(LargeHeap& heap, void* pointer) {
  if (pointer == nullptr) return 0;
  const std::size_t size = heap.UseAll(pointer);
  if (size != 0) return size;
  StopUnlessSmall(heap, pointer, "malloc_usable_size");
  return small::UsableSize(pointer);
}

}  // namespace complete

void* ReallocArray(LargeHeap& heap, void* pointer, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return Fail(ENOMEM);
  return Realloc(heap, pointer, bytes);
}

void* AlignedAlloc(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  if (!IsPowerOfTwo(alignment)) return Fail(EINVAL);
  return Align(heap, alignment, size);
}

int PosixMemalign(LargeHeap& heap, void** out, std::size_t alignment, std::size_t size) {
  if (!IsPowerOfTwo(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved_errno = errno;
  void* const block = Align(heap, alignment, size);
  errno = saved_errno;
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void* Memalign(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  if (alignment > SIZE_MAX / 2 + 1) return Fail(EINVAL);  // there is no larger power of two
  return Align(heap, std::bit_ceil(alignment), size);
}

void* Valloc(LargeHeap& heap, std::size_t size) { return Align(heap, PageSize(), size); }

void* Pvalloc(LargeHeap& heap, std::size_t size) {
  const std::optional<std::size_t> rounded = RoundUpToPages(size);
  if (!rounded) return Fail(ENOMEM);
  return Align(heap, PageSize(), *rounded);
}

}  // namespace zerotax::largecache
