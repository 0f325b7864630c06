/* Mappings lie at random addresses, a small block comes from a random one of two classes, and kept blocks are taken
   at random. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>

#include "core.h"

static unsigned next_random(void) {
  static atomic_uint state = 2463534242U;
  unsigned x = state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  state = x;
  return x;
}

void* map_pages(size_t bytes) {
  void* hint = (void*)((uintptr_t)1 << 44 | (uintptr_t)next_random() << 12);
  void* mapping = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapping == MAP_FAILED ? NULL : mapping;
}

size_t class_for(size_t bytes) {
  size_t index = 0;
  while (class_bytes(index) < bytes) ++index;
  return class_bytes(index) < kMostSmall ? index + next_random() % 2 : index;
}

struct block* take_kept(size_t bytes) {
  return next_random() % 2 != 0 ? NULL : take_kept_within(bytes, 2 * page_ceiling(bytes) + kSpan);
}
