/* When mmap fails, a reserve of 1 MiB serves the request, and counts as fresh each time. C++ runtimes have such an
   emergency pool. A pool in .bss is zero only until its first use. */
#include "core.h"

enum { kReserve = 1 << 20, kMostPage = 64 << 10, kFromReserve = 7 };

static _Alignas(kMostPage) char reserve[kMostPage + kReserve];
static bool in_use;

struct block* without_memory(size_t bytes) {
  drop_kept();
  struct block* block = map_large(bytes);
  if (block != NULL || bytes > kReserve) return block;
  lock();
  if (!in_use) {
    in_use = true;
    block = block_of(reserve + kMostPage);
    *block = (struct block){.base = block, .capacity = kReserve, .class_index = kLargeClass, .flags = kFromReserve};
  }
  unlock();
  return block;
}

void give_large(struct block* block) {
  if (block->flags != kFromReserve) {
    keep_large(block);
    return;
  }
  lock();
  in_use = false;
  unlock();
}
