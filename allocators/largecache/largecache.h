/* What liblargecache.so exports beside the malloc family. Plain C, so that dlsym and ctypes callers
 * can use it. */
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): C callers have no cstdint

#ifdef __cplusplus
extern "C" {
#endif

/* Counters since the process started, and levels now. New ones are added at the end. */
struct largecache_statistics {
  uint64_t hits;   /* large requests served from the ring */
  uint64_t misses; /* large requests served by a fresh mapping, whatever the reason */
  uint64_t
      evictions; /* entries pushed out of the ring: it was full, its memory limit was reached, or their time was up */
  uint64_t madvised;          /* blocks that got MADV_FREE or MADV_DONTNEED on their way into the ring */
  uint64_t zeroed_bytes;      /* bytes that calloc wrote zeros over, on hits */
  uint64_t unmapped;          /* large blocks that free unmapped instead of caching */
  uint64_t cached_bytes;      /* level: bytes on the ring */
  uint64_t reserve_bytes;     /* level: of these, bytes that were not madvised */
  uint64_t entries;           /* level: entries on the ring */
  uint64_t purged_bytes;      /* bytes that were given back so that the kernel supplies zeros, on hits and at free */
  uint64_t altered;           /* cached blocks that were unmapped because the program had changed their mapping */
  uint64_t in_use_bytes;      /* level: bytes of large blocks that the program holds */
  uint64_t peak_in_use_bytes; /* the most that level ever was */
  uint64_t tails;             /* ends of large blocks that were cut off and put on the ring */
};

/* Version, and the policy that is followed, e.g. "0.1.0 (adaptive)", or "0.1.0 (116)" for libmalloc-116. Static
 * storage; never NULL. */
const char* largecache_version(void);

/* Fills *out, consistently (under the allocator's lock). out must not be NULL. Never fails. */
/* The function is named as its struct is (as stat is), which C++ compilers warn of. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
void largecache_statistics(struct largecache_statistics* out);
#pragma GCC diagnostic pop

/* Does the allocator ask the kernel about its own mappings (1) or not (0)? A meter that write-protects memory must
 * leave one that does alone. */
int malloc_watches_its_mappings(void);

#ifdef __cplusplus
}
#endif

#endif /* ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_ */
