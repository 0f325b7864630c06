// glibc's allocator by its second names, which are not affected by interposing malloc (glibc,
// malloc/malloc.c: strong_alias (__libc_malloc, malloc) and so on; all five are exported under
// GLIBC_2.2.5).
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

// There is no __libc_malloc_usable_size. dlsym(RTLD_NEXT) finds another allocator's function when
// one is loaded between us and libc, and may not be called before the dynamic linker is done; so
// this reads the chunk header, as glibc 2.36 does (malloc/malloc.c: musable, memsize, struct
// malloc_chunk): the word before the block is the chunk's size with flags in its low three bits; a
// mapped chunk (IS_MMAPPED, 2) loses two words to its header, any other one, because it also owns
// the next chunk's first word. The layout is 30 years old; the unit test
// "Small.AgreesWithTheCLibraryOnUsableSizes" watches it.
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

// By default glibc gives the end of its heap back as soon as 128 KiB of it are free, and learns from large blocks alone
// that this is too little: those are ours, so it would never learn.
void keep_heap() {
  constexpr int kNever = -1;
  constexpr int kTopPad = 1 << 20;              // fewer calls of brk(2); memory only where it is touched
  constexpr int kMostMmapThreshold = 32 << 20;  // for a larger threshold of ours
  if (is_set("MALLOC_TRIM_THRESHOLD_", "trim_threshold")) return;
  mallopt(M_TRIM_THRESHOLD, kNever);
  if (!is_set("MALLOC_TOP_PAD_", "top_pad")) mallopt(M_TOP_PAD, kTopPad);
  if (!is_set("MALLOC_MMAP_THRESHOLD_", "mmap_threshold")) mallopt(M_MMAP_THRESHOLD, kMostMmapThreshold);
}

void trim_heap() { malloc_trim(std::size_t{128} << 10); }

namespace {

std::atomic<std::uintptr_t> heap_begin{UINTPTR_MAX};

// What brk(2) has added has no holes. glibc answers sbrk(0) without a system call, so that a program with many small
// blocks does not pay for one at each that starts a page: 17,000 in benchmark-programs' `redis`.
bool is_in_heap(std::uintptr_t address) {
  return address >= heap_begin.load(std::memory_order_relaxed) && address < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

void note_heap() { heap_begin.store(reinterpret_cast<std::uintptr_t>(sbrk(0)), std::memory_order_relaxed); }

// glibc itself reads the header of whatever it is given, and follows it: a program that frees something that is not a
// block would die of SIGSEGV, without a message. The header lies at the end of the previous page.
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
  // The alignment decides how long a mapped block of glibc is; glibc checks, as here, that it ends at a page's end.
  if ((header[1] & kIsMmapped) != 0) return (header[0] + size) % page_size() == 0 ? kAlignment : 0;
  return size % kAlignment == 0 ? size : 0;
}

}  // namespace zerotax::largecache::small
