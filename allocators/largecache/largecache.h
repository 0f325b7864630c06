/* What liblargecache.so exports beside the malloc family. Plain C, so that dlsym and ctypes callers
 * can use it. */
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): C callers have no cstdint

#ifdef __cplusplus
extern "C" {
#endif

/* Counters since the process started (the first six) and levels now (the last three). */
struct largecache_statistics {
  uint64_t hits;          /* large requests served from the ring */
  uint64_t misses;        /* large requests served by a fresh mapping, whatever the reason */
  uint64_t evictions;     /* entries pushed out of a full ring */
  uint64_t madvised;      /* blocks that got MADV_FREE on their way into the ring */
  uint64_t zeroed_bytes;  /* bytes that calloc wrote zeros over, on hits */
  uint64_t unmapped;      /* large blocks that free unmapped instead of caching */
  uint64_t cached_bytes;  /* bytes on the ring */
  uint64_t reserve_bytes; /* of these, bytes that were not madvised */
  uint64_t entries;       /* entries on the ring */
};

/* Version, and the libmalloc that it emulates, e.g. "0.1.0 (116)". Static storage; never NULL. */
const char* largecache_version(void);

/* Fills *out, consistently (under the allocator's lock). out must not be NULL. Never fails. */
/* The function is named as its struct is (as stat is), which C++ compilers warn of. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
void largecache_statistics(struct largecache_statistics* out);
#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif

#endif /* ZEROTAX_ALLOCATORS_LARGECACHE_LARGECACHE_H_ */
