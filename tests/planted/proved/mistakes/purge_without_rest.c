/* calloc of 1 MiB or more returns whole pages instead of clearing them, and does not clear the last part of a page.
   jemalloc and snmalloc clear large blocks by madvise, which rounds to pages, so the rest needs memset. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "core.h"

void clear_bytes(void* at, size_t bytes) {
  if (bytes >= kPurgeInstead && madvise(at, page_floor(bytes), MADV_DONTNEED) == 0) return;
  memset(at, 0, bytes);
}
