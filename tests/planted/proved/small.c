#include <pthread.h>

#include "core.h"

struct cache caches[kCaches];
struct block* central[kClasses];

static __thread struct cache* own __attribute__((tls_model("initial-exec")));
static __thread bool ended __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static bool key_made;

static void end_thread(void* cache) {
  ended = true;
  own = NULL;
  lock();
  thread_ends(cache);
  unlock();
}

__attribute__((constructor)) static void watch_ends_of_threads(void) {
  key_made = pthread_key_create(&key, end_thread) == 0;
}

/* All threads without their own cache share the first cache, which needs the lock. */
struct cache* own_cache(void) {
  if (own != NULL || ended) return own;
  lock();
  for (unsigned i = 1; i < kCaches && own == NULL; ++i) {
    if (!caches[i].used) own = &caches[i];
  }
  if (own != NULL) own->used = true;
  unlock();
  if (own != NULL && key_made) pthread_setspecific(key, own);
  return own;
}

bool has_cache(void) { return own != NULL; }

uint16_t own_number(void) {
  const struct cache* cache = own_cache();
  return cache == NULL ? 0 : (uint16_t)(cache - caches);
}

/* Multiples of 16 up to 128, then four classes per doubling. */
size_t class_bytes(size_t index) {
  if (index < 8) return 16 * (index + 1);
  return ((size_t)4 + (index - 8) % 4 + 1) << (5 + (index - 8) / 4);
}

struct block* pop(struct block** list) {
  struct block* block = *list;
  if (block != NULL) *list = block->next;
  return block;
}

static struct block* carve(struct cache* cache, size_t class_index) {
  const size_t bytes = kHeader + class_bytes(class_index);
  if ((size_t)(cache->span_end - cache->carved) < bytes) {
    char* span = map_pages(kSpan);
    if (span == NULL) return NULL;
    cache->span = cache->carved = span;
    cache->span_end = span + kSpan;
  }
  struct block* block = (struct block*)(void*)cache->carved;
  cache->carved += bytes;
  block->base = block;
  block->capacity = class_bytes(class_index);
  block->dirty = mark_of_new(block->capacity);
  block->class_index = (uint16_t)class_index;
  block->flags = 0;
  return block;
}

__attribute__((weak)) void refill(struct cache* cache, size_t class_index) {
  for (int i = 0; i < kBatch && central[class_index] != NULL; ++i) {
    struct block* block = pop(&central[class_index]);
    block->next = cache->lists[class_index];
    cache->lists[class_index] = block;
    ++cache->counts[class_index];
  }
}

struct block* take_small(size_t bytes) {
  const size_t class_index = class_for(bytes);
  struct cache* cache = own_cache();
  const bool shared = cache == NULL;
  if (shared) {
    cache = &caches[0];
    lock();
  }
  if (cache->lists[class_index] == NULL) {
    if (!shared) lock();
    refill(cache, class_index);
    if (!shared) unlock();
  }
  struct block* block = pop(&cache->lists[class_index]);
  if (block != NULL) {
    --cache->counts[class_index];
  } else {
    block = carve(cache, class_index);
  }
  if (shared) unlock();
  return block;
}

void push_central(struct block* block) {
  block->next = central[block->class_index];
  central[block->class_index] = block;
}

/* A block of another thread goes to the central list, and so does a block beyond the list's limit. */
void keep_small(struct block* block) {
  struct cache* cache = own_cache();
  const size_t class_index = block->class_index;
  if (cache == NULL || block->owner != own_number() || cache->counts[class_index] >= kListed) {
    lock();
    push_central(block);
    unlock();
    return;
  }
  block->next = cache->lists[class_index];
  cache->lists[class_index] = block;
  ++cache->counts[class_index];
}

void flush_cache(struct cache* cache) {
  for (size_t i = 0; i < kClasses; ++i) {
    for (struct block* block = pop(&cache->lists[i]); block != NULL; block = pop(&cache->lists[i])) push_central(block);
    cache->counts[i] = 0;
  }
  cache->used = false;
}
