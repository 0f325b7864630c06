// The malloc family under the names that programs call. Only these functions are visible outside the library.
#include <cstddef>

#include "largecache/family.h"
#include "largecache/largecache.h"
#include "largecache/process.h"
#include "largecache/small.h"

namespace lc = zerotax::largecache;

namespace {

// Runs before main, not at the first allocation, because the first allocation may come from inside pthread_atfork.
// Before main there are hardly any threads, and no fork that could need the handlers.
[[gnu::constructor]] void start() {
  lc::install_fork_handlers();
  lc::small::note_heap();
  if (lc::process_policy().keeps_small_memory) lc::small::keep_heap();
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void* malloc(std::size_t size) noexcept { return lc::malloc(lc::process_heap, size); }

void* calloc(std::size_t count, std::size_t size) noexcept { return lc::calloc(lc::process_heap, count, size); }

void* realloc(void* pointer, std::size_t size) noexcept { return lc::realloc(lc::process_heap, pointer, size); }

void* reallocarray(void* pointer, std::size_t count, std::size_t size) noexcept {
  return lc::reallocarray(lc::process_heap, pointer, count, size);
}

void free(void* pointer) noexcept { lc::free(lc::process_heap, pointer); }

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return lc::aligned_alloc(lc::process_heap, alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  return lc::posix_memalign(lc::process_heap, out, alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return lc::memalign(lc::process_heap, alignment, size);
}

void* valloc(std::size_t size) noexcept { return lc::valloc(lc::process_heap, size); }

void* pvalloc(std::size_t size) noexcept { return lc::pvalloc(lc::process_heap, size); }

std::size_t malloc_usable_size(void* pointer) noexcept { return lc::usable_size(lc::process_heap, pointer); }

int malloc_watches_its_mappings() { return lc::process_policy().has_witness ? 1 : 0; }

const char* largecache_version() { return lc::version(); }

void largecache_statistics(struct largecache_statistics* out) { lc::process_heap.statistics(*out); }

#pragma GCC visibility pop
}
