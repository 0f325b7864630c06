// Calls glibc's allocator by its second names, which an interposed malloc does not replace (glibc, malloc/malloc.c:
// strong_alias (__libc_malloc, malloc) and so on; all five are exported under GLIBC_2.2.5).
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "largecache/pages.h"
#include "largecache/small.h"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's names.
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* pointer, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
void __libc_free(void* pointer) noexcept;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace zerotax::largecache::small {

void* allocate(std::size_t size) { return __libc_malloc(size); }
void* allocate_zero(std::size_t count, std::size_t size) { return __libc_calloc(count, size); }
void* reallocate(void* pointer, std::size_t size) { return __libc_realloc(pointer, size); }
void* allocate_aligned(std::size_t alignment, std::size_t size) { return __libc_memalign(alignment, size); }
void deallocate(void* pointer) { __libc_free(pointer); }

// Returns a block's usable size by its chunk header, because there is no __libc_malloc_usable_size. dlsym(RTLD_NEXT)
// might find another allocator's function, and may not be called before the dynamic linker has finished.
//
// The header is read as in glibc 2.36 (malloc/malloc.c: musable, memsize, struct malloc_chunk). The word before the
// block is the chunk's size, with flags in its low three bits. A mapped chunk (IS_MMAPPED, 2) loses two words to its
// header. Any other chunk loses one word, because it also owns the next chunk's first word. The layout is 30 years old;
// the unit test "Small.AgreesWithTheCLibraryOnUsableSizes" checks it.
std::size_t usable_size(void* pointer) {
  constexpr std::size_t kFlags = 7;
  constexpr std::size_t kIsMmapped = 2;
  std::size_t header = 0;
  std::memcpy(&header, static_cast<const char*>(pointer) - sizeof header, sizeof header);
  const std::size_t overhead = (header & kIsMmapped) != 0 ? 2 * sizeof header : sizeof header;
  return (header & ~kFlags) - overhead;
}

namespace {

bool is_set(const char* variable, const char* tunable) {
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  return std::getenv(variable) != nullptr || (tunables != nullptr && std::strstr(tunables, tunable) != nullptr);
}

}  // namespace

// Stops glibc from trimming its heap. By default, glibc returns the end of its heap as soon as 128 KiB at the end are
// free. glibc raises this limit only when it frees a large block, but all large blocks are ours.
void keep_heap() {
  constexpr int kNever = -1;
  constexpr int kTopPad = 1 << 20;              // saves calls to brk(2); memory is populated only when it is touched
  constexpr int kMostMmapThreshold = 32 << 20;  // maximum of glibc's mmap threshold, in case ours is larger
  if (is_set("MALLOC_TRIM_THRESHOLD_", "trim_threshold")) return;
  mallopt(M_TRIM_THRESHOLD, kNever);
  if (!is_set("MALLOC_TOP_PAD_", "top_pad")) mallopt(M_TOP_PAD, kTopPad);
  if (!is_set("MALLOC_MMAP_THRESHOLD_", "mmap_threshold")) mallopt(M_MMAP_THRESHOLD, kMostMmapThreshold);
}

void trim_heap() { malloc_trim(std::size_t{128} << 10); }

namespace {

std::atomic<std::uintptr_t> heap_begin{UINTPTR_MAX};

// Whether an address is in the part of the heap that brk(2) added. This part has no holes, and glibc answers sbrk(0)
// without a system call. The check saves programs one system call per small block at the start of a page: 17,000 in
// `redis` of benchmark-programs.
bool is_in_heap(std::uintptr_t address) {
  return address >= heap_begin.load(std::memory_order_relaxed) && address < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

void note_heap() { heap_begin.store(reinterpret_cast<std::uintptr_t>(sbrk(0)), std::memory_order_relaxed); }

// Checks the header, because glibc reads and follows the header of any pointer. Freeing a pointer that is not a block
// would otherwise end in SIGSEGV without a message. The header is at the end of the previous page.
std::size_t claimed(void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t page = address - page_size();
  if (!is_in_heap(page) && !page_is_mapped(page)) return 0;
  constexpr std::size_t kFlags = 7;
  constexpr std::size_t kIsMmapped = 2;
  constexpr std::size_t kAlignment = 16;
  std::size_t header[2];
  std::memcpy(header, static_cast<const char*>(pointer) - sizeof header, sizeof header);
  const std::size_t size = header[1] & ~kFlags;
  // Checks like glibc that a mapped block ends at the end of a page. The length depends on the alignment, so it is not
  // compared.
  if ((header[1] & kIsMmapped) != 0) return (header[0] + size) % page_size() == 0 ? kAlignment : 0;
  return size % kAlignment == 0 ? size : 0;
}

}  // namespace zerotax::largecache::small
