// The names that programs call. The only part of the library that is visible outside it.
#include <cstddef>

#include "largecache/family.h"
#include "largecache/largecache.h"
#include "largecache/process.h"
#include "largecache/small.h"

namespace lc = zerotax::largecache;

namespace {

// Not on the first allocation: that one may come from inside pthread_atfork. Before this runs there
// are hardly any threads, and no fork that could need the handlers.
[[gnu::constructor]] void Start() {
  lc::InstallForkHandlers();
  lc::small::NoteHeap();
  if (lc::ProcessPolicy().keeps_small_memory) lc::small::KeepHeap();
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void* malloc(std::size_t size) noexcept { return lc::Malloc(lc::ProcessHeap(), size); }

void* calloc(std::size_t count, std::size_t size) noexcept { return lc::Calloc(lc::ProcessHeap(), count, size); }

void* realloc(void* pointer, std::size_t size) noexcept { return lc::Realloc(lc::ProcessHeap(), pointer, size); }

void* reallocarray(void* pointer, std::size_t count, std::size_t size) noexcept {
  return lc::ReallocArray(lc::ProcessHeap(), pointer, count, size);
}

void free(void* pointer) noexcept { lc::Free(lc::ProcessHeap(), pointer); }

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return lc::AlignedAlloc(lc::ProcessHeap(), alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  return lc::PosixMemalign(lc::ProcessHeap(), out, alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return lc::Memalign(lc::ProcessHeap(), alignment, size);
}

void* valloc(std::size_t size) noexcept { return lc::Valloc(lc::ProcessHeap(), size); }

void* pvalloc(std::size_t size) noexcept { return lc::Pvalloc(lc::ProcessHeap(), size); }

std::size_t malloc_usable_size(void* pointer) noexcept { return lc::UsableSize(lc::ProcessHeap(), pointer); }

int malloc_watches_its_mappings() { return lc::ProcessPolicy().has_witness ? 1 : 0; }

const char* largecache_version() { return lc::Version(); }

void largecache_statistics(struct largecache_statistics* out) { lc::ProcessHeap().Statistics(*out); }

#pragma GCC visibility pop
}
