/* The exports of liblargecache.so besides the malloc family. Plain C, so that dlsym and ctypes callers can use them. */
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): C callers have no cstdint

#ifdef __cplusplus
extern "C" {
#endif

/* Counters since the process started, and current levels. New fields are added at the end. */
struct largecache_statistics {
  uint64_t hits;      /* large requests served from the ring */
  uint64_t misses;    /* large requests served by a fresh mapping, whatever the reason */
  uint64_t evictions; /* entries pushed out of the ring because the ring was full, its memory limit was reached, or the
                         entries were too old */
  uint64_t madvised;  /* blocks that got MADV_FREE or MADV_DONTNEED before they entered the ring */
  uint64_t zeroed_bytes;      /* bytes that calloc overwrote with zeros on hits */
  uint64_t unmapped;          /* large blocks that free unmapped instead of caching */
  uint64_t cached_bytes;      /* level: bytes in the ring */
  uint64_t reserve_bytes;     /* level: bytes in the ring that were not madvised */
  uint64_t entries;           /* level: entries in the ring */
  uint64_t purged_bytes;      /* bytes returned to the kernel on hits and at free, so that the kernel supplies zeros */
  uint64_t altered;           /* cached blocks that were unmapped because the program had changed their mapping */
  uint64_t in_use_bytes;      /* level: bytes of large blocks that the program holds */
  uint64_t peak_in_use_bytes; /* peak of in_use_bytes */
  uint64_t tails;             /* ends of large blocks that were cut off and put into the ring */
};

/* Returns the version and the policy in use, such as "0.1.0 (adaptive)", or "0.1.0 (116)" for libmalloc-116. Static
 * storage; never NULL. */
const char* largecache_version(void);

/* Fills *out consistently, under the allocator's lock. `out` must not be NULL. Never fails. Function and struct have
   the same name, as with stat; C++ compilers warn about this. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
void largecache_statistics(struct largecache_statistics* out);
#pragma GCC diagnostic pop

/* Returns 1 if the allocator asks the kernel about its own mappings, otherwise 0. A meter that write-protects memory
 * must leave such an allocator alone. */
int malloc_watches_its_mappings(void);

#ifdef __cplusplus
}
#endif

#endif /* ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_ */
