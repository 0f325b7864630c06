#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "core.h"

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong blocks_handed_out;

void lock(void) { pthread_mutex_lock(&mutex); }
void unlock(void) { pthread_mutex_unlock(&mutex); }

static void after_fork_in_child(void) {
  child_starts();
  unlock();
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(lock, unlock, after_fork_in_child); }

size_t page(void) {
  static size_t known;
  if (known == 0) known = getauxval(AT_PAGESZ);
  return known;
}

uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct block* take(size_t bytes) {
  const size_t reserved = bytes > PTRDIFF_MAX ? bytes : needed(bytes);
  struct block* block = reserved <= kMostSmall ? take_small(reserved) : take_large(reserved);
  if (block == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  block->stamp = ++blocks_handed_out;
  block->owner = own_number();
  block->asked = bytes;
  return block;
}

/* Returns the offset of the program's block in the whole block. The offset is 0 unless the program's block is
   aligned. */
static size_t offset_of(struct block* given) { return (size_t)((char*)given - (char*)given->base); }

static void* take_aligned(size_t alignment, size_t bytes) {
  if (alignment <= 16) return malloc(bytes);
  if (bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX) {
    errno = ENOMEM;
    return NULL;
  }
  struct block* block = take(bytes + alignment + kHeader);
  if (block == NULL) return NULL;
  size_t offset = -(uintptr_t)data_of(block) & (alignment - 1);
  while (offset != 0 && offset < kHeader) offset += alignment;
  block->asked = offset + bytes;
  struct block* given = block_of(data_of(block) + offset);
  if (given != block) {
    *given = *block;
    given->asked = bytes;
  }
  handed_out(block, given);
  return data_of(given);
}

EXPORTED void* malloc(size_t bytes) {
  struct block* block = take(bytes);
  if (block == NULL) return NULL;
  handed_out(block, block);
  return data_of(block);
}

EXPORTED void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (!product(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  struct block* block = take(bytes);
  if (block == NULL) return NULL;
  if (bytes != 0) clear_block(block, count, size);
  handed_out(block, block);
  return data_of(block);
}

EXPORTED void free(void* data) {
  if (data == NULL) return;
  const int saved = errno;
  struct block* given = block_of(data);
  struct block* block = given->base;
  freed(block, given);
  if (is_large(block)) {
    give_large(block);
  } else {
    give_small(block);
  }
  errno = saved;
}

EXPORTED void* realloc(void* data, size_t bytes) {
  if (data == NULL) return malloc(bytes);
  if (bytes == 0) {
    free(data);
    return NULL;
  }
  struct block* given = block_of(data);
  if (given->base == given && resize(given, bytes)) {
    handed_out(given, given);
    return data;
  }
  void* moved = malloc(bytes);
  if (moved == NULL) return NULL;
  copy_common(moved, given, bytes);
  free(data);
  return moved;
}

EXPORTED void* reallocarray(void* data, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(data, bytes);
}

EXPORTED void* memalign(size_t alignment, size_t bytes) {
  size_t power = 16;
  while (power < alignment && power <= PTRDIFF_MAX) power *= 2;
  return take_aligned(power, bytes);
}

EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    errno = EINVAL;
    return NULL;
  }
  return take_aligned(alignment, bytes);
}

EXPORTED int posix_memalign(void** data, size_t alignment, size_t bytes) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment % sizeof(void*) != 0) return EINVAL;
  const int saved = errno;
  void* found = take_aligned(alignment, bytes);
  errno = saved;
  if (found == NULL) return ENOMEM;
  *data = found;
  return 0;
}

EXPORTED void* valloc(size_t bytes) { return take_aligned(page(), bytes); }

EXPORTED void* pvalloc(size_t bytes) {
  if (bytes > PTRDIFF_MAX) {
    errno = ENOMEM;
    return NULL;
  }
  return take_aligned(page(), page_ceiling(bytes == 0 ? 1 : bytes));
}

EXPORTED size_t malloc_usable_size(void* data) {
  return data == NULL ? 0 : usable(block_of(data)->base) - offset_of(block_of(data));
}

EXPORTED int malloc_trim(size_t pad) {
  lock();
  const int returned = trim(pad);
  unlock();
  return returned;
}
