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

void* fail(int error) {
  errno = error;
  return nullptr;
}

// Avoids std::has_single_bit. If the base instruction set lacks popcnt, std::has_single_bit calls libgcc, and the
// library would need libgcc_s.so.
bool is_power_of_two(std::size_t number) { return number != 0 && (number & (number - 1)) == 0; }

// Stops the process with a message that names the pointer, unless the pointer may be a small block. The pointer must be
// page-aligned and must not start a large block. No header of a small block states more than twice the threshold. The
// minimum of 1 MiB allows for blocks from before the threshold was known.
void stop_unless_small(LargeHeap& heap, void* pointer, const char* call) {
  constexpr std::size_t kFromTheStart = std::size_t{1} << 20;
  const std::size_t claimed = small::claimed(pointer);
  const bool may_be_long = claimed <= kFromTheStart || heap.lent() || !heap.is_large(claimed / 2);
  if (claimed == SIZE_MAX || (claimed != 0 && may_be_long)) return;
  Message message;
  message.add_text(call).add_text(": ").add_pointer(pointer);
  message.add_text(" is not a live block: it has been freed, or was never allocated; check the origin of the pointer")
      .print();
  std::abort();
}

// `alignment` must be a power of two.
void* align(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  return heap.is_large(size, alignment) ? heap.allocate(size, alignment, Contents::kAny)
                                        : small::allocate_aligned(alignment, size);
}

}  // namespace

namespace complete {

void* malloc(LargeHeap& heap, std::size_t size) {
  return heap.is_large(size) ? heap.allocate(size, 1, Contents::kAny) : small::allocate(size);
}

void* calloc(LargeHeap& heap, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
  return heap.is_large(bytes) ? heap.allocate(bytes, 1, Contents::kZero) : small::allocate_zero(count, size);
}

void* realloc(LargeHeap& heap, void* pointer, std::size_t size) {
  if (pointer == nullptr) return largecache::malloc(heap, size);
  if (size == 0) {
    largecache::free(heap, pointer);
    return nullptr;
  }
  std::size_t old_size = is_page_aligned(pointer) ? heap.usable_size(pointer) : 0;
  if (old_size != 0) {
    if (heap.resize_in_place(pointer, old_size, size)) return pointer;
    if (void* const moved = heap.move_grown(pointer, old_size, size)) return moved;
    old_size = heap.asked_size(pointer);
  } else {
    if (is_page_aligned(pointer)) stop_unless_small(heap, pointer, "realloc");
    if (!heap.is_large(size)) return small::reallocate(pointer, size);
    old_size = small::usable_size(pointer);
  }
  void* const moved =
      heap.is_large(size) ? heap.allocate(size, 1, Contents::kAny, size > old_size) : small::allocate(size);
  if (moved == nullptr) return nullptr;
  // libmalloc copies blocks of 128 KiB or more by vm_copy, which copies on write. Linux has no call that copies private
  // memory on write.
  std::memcpy(moved, pointer, std::min(old_size, size));
  largecache::free(heap, pointer);
  return moved;
}

void free(LargeHeap& heap, void* pointer) {
  if (pointer == nullptr || heap.deallocate(pointer)) return;
  stop_unless_small(heap, pointer, "free");
  small::deallocate(pointer);
}

std::size_t usable_size(LargeHeap& heap, void* pointer) {
  if (pointer == nullptr) return 0;
  const std::size_t size = heap.use_all(pointer);
  if (size != 0) return size;
  stop_unless_small(heap, pointer, "malloc_usable_size");
  return small::usable_size(pointer);
}

}  // namespace complete

void* reallocarray(LargeHeap& heap, void* pointer, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
  return realloc(heap, pointer, bytes);
}

void* aligned_alloc(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  if (!is_power_of_two(alignment)) return fail(EINVAL);
  return align(heap, alignment, size);
}

int posix_memalign(LargeHeap& heap, void** out, std::size_t alignment, std::size_t size) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved_errno = errno;
  void* const block = align(heap, alignment, size);
  errno = saved_errno;
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void* memalign(LargeHeap& heap, std::size_t alignment, std::size_t size) {
  if (alignment > SIZE_MAX / 2 + 1) return fail(EINVAL);  // no larger power of two exists
  return align(heap, std::bit_ceil(alignment), size);
}

void* valloc(LargeHeap& heap, std::size_t size) { return align(heap, page_size(), size); }

void* pvalloc(LargeHeap& heap, std::size_t size) {
  const std::optional<std::size_t> rounded = round_up_to_pages(size);
  if (!rounded) return fail(ENOMEM);
  return align(heap, page_size(), *rounded);
}

}  // namespace zerotax::largecache
