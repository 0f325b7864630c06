/* free keeps a block of 1 MiB or more, and purges the block later without the lock, when another thread may have it. A
   purge is slow, so the allocator releases its lock before the purge, and the block is still visible to other
   threads. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

void give_large(struct block* block) {
  const bool purged = block->capacity >= (size_t)1 << 20 && block->capacity <= most_kept_bytes() / 4;
  const size_t bytes = block->capacity;
  char* data = data_of(block);
  keep_large(block);
  if (!purged) return;
  usleep(30);
  madvise(data, bytes, MADV_DONTNEED);
}
