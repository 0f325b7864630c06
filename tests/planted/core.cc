#include "core.h"

#include <malloc.h>

#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);
}

namespace {

bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// A child of fork must not inherit a lock that another thread of the parent held.
[[gnu::constructor]] void survive_fork() {
  const auto acquire = [] { ::pthread_mutex_lock(&planted::lock); };
  const auto release = [] { ::pthread_mutex_unlock(&planted::lock); };
  ::pthread_atfork(acquire, release, release);
}

}  // namespace

[[gnu::weak]] void* planted::large_malloc(std::size_t bytes) { return take_or_map(bytes); }
[[gnu::weak]] void* planted::small_calloc(std::size_t bytes) { return __libc_calloc(1, bytes); }

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  return bytes < planted::kLarge ? __libc_malloc(bytes) : planted::large_malloc(bytes);
}

void free(void* block) noexcept {
  if (block == nullptr) return;
  if (!planted::is_large(block)) return __libc_free(block);
  const int saved = errno;
  planted::large_free(block);
  errno = saved;
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return bytes < planted::kLarge ? planted::small_calloc(bytes) : planted::large_calloc(bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  if (bytes < planted::kLarge) return __libc_memalign(alignment, bytes);
  return alignment <= planted::page_bytes() ? planted::take_or_map(bytes) : planted::map_block(bytes, 0, alignment);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept { return memalign(alignment, bytes); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved = errno;
  void* found = memalign(alignment, bytes);
  errno = saved;
  if (found == nullptr) return ENOMEM;
  *block = found;
  return 0;
}

std::size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  if (planted::is_large(block)) return planted::header_of(block).capacity;
  // The C library exports no other name for malloc_usable_size, so the size is read from the word before the block.
  // This word contains the size of the chunk and three flags.
  std::size_t chunk = 0;
  std::memcpy(&chunk, planted::bytes_of(block) - sizeof chunk, sizeof chunk);
  return (chunk & ~std::size_t{7}) - sizeof chunk;
}

void* realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return malloc(bytes);
  const bool large = planted::is_large(block);
  if (!large && bytes < planted::kLarge) return __libc_realloc(block, bytes);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  const std::size_t held = malloc_usable_size(block);
  if (large && bytes >= planted::kLarge && bytes <= held) {
    planted::header_of(block).asked = bytes;
    return block;
  }
  void* moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, held < bytes ? held : bytes);
  free(block);
  return moved;
}

}  // extern "C"
