/* A small malloc replacement for repositories that tests make. A commit changes the macros PLANTED_…, so each commit is
 * a version (projects.py). As in tests/planted, the C library serves requests of less than 32 KiB. A larger block has
 * its own pages, and its header is on the page before these pages. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "policy.h"

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

enum { kLarge = 32 << 10 };

static size_t page_bytes(void) { return getauxval(AT_PAGESZ); }

struct header {
  uintptr_t mark;
  size_t asked;
  size_t mapped;
  void* mapping;
};

static uintptr_t mark_of(const void* block) { return (uintptr_t)block ^ 0x706c616e74656421U; }
static struct header* header_of(void* block) { return (struct header*)((char*)block - page_bytes()); }
static int is_large(void* block) {
  return (uintptr_t)block % page_bytes() == 0 && header_of(block)->mark == mark_of(block);
}

static void* map_block(size_t bytes, size_t alignment) {
  if (bytes > PTRDIFF_MAX - 3 * page_bytes() - alignment) {
    errno = ENOMEM;
    return NULL;
  }
  const size_t mapped =
      page_bytes() + (bytes + page_bytes() - 1) / page_bytes() * page_bytes() + alignment - page_bytes();
  char* mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return NULL;
  void* block = (void*)(((uintptr_t)mapping + page_bytes() + alignment - 1) & ~(uintptr_t)(alignment - 1));
  *header_of(block) = (struct header){mark_of(block), bytes, mapped, mapping};
  return block;
}

void* malloc(size_t bytes) { return bytes < kLarge ? __libc_malloc(bytes) : map_block(bytes, page_bytes()); }

void free(void* block) {
  if (block == NULL) return;
  if (!is_large(block)) {
    __libc_free(block);
    return;
  }
  const int saved = errno;
  const struct header header = *header_of(block);
  munmap(header.mapping, header.mapped);
  errno = saved;
}

void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  if (bytes < kLarge) return __libc_calloc(1, bytes);
#if PLANTED_CRASH
  __builtin_trap();
#endif
  char* block = map_block(bytes, page_bytes());
  if (block != NULL && bytes >= PLANTED_ZEROES_FROM) memset(block, 0, bytes);
  return block;
}

void* memalign(size_t alignment, size_t bytes) {
  if (bytes < kLarge) return __libc_memalign(alignment, bytes);
  return map_block(bytes, alignment < page_bytes() ? page_bytes() : alignment);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  void* found = memalign(alignment, bytes);
  if (found == NULL) return ENOMEM;
  *block = found;
  return 0;
}

size_t malloc_usable_size(void* block) {
  if (block == NULL) return 0;
  if (is_large(block)) return header_of(block)->asked;
  size_t chunk = 0;
  memcpy(&chunk, (char*)block - sizeof chunk, sizeof chunk);
  return (chunk & ~(size_t)7) - sizeof chunk;
}

void* realloc(void* block, size_t bytes) {
  if (block == NULL) return malloc(bytes);
  if (!is_large(block) && bytes < kLarge) return __libc_realloc(block, bytes);
  const size_t held = malloc_usable_size(block);
  void* moved = malloc(bytes);
  if (moved == NULL) return NULL;
  memcpy(moved, block, held < bytes ? held : bytes);
  free(block);
  return moved;
}
