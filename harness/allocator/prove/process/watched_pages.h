#pragma once

/* Watches pages of freed blocks for writes, by userfaultfd's asynchronous write protection and PAGEMAP_SCAN (since
 * Linux 6.7). So a page that calloc returns is known to be zeroed by nobody if the page stayed populated, and neither
 * the allocator nor the kernel wrote to it. Registration only marks mappings, which munmap, mremap and fork undo. */

#include <stdint.h>

/* Enters in the head whether pages can be watched, or the error number. */
void open_watched_pages(void);
/* Ends the watch in a child of fork, whose descriptors belong to the parent's memory. */
void close_watched_pages(void);
/* Starts to watch the whole pages of a block. Returns 0 if the block has none, or cannot be watched. */
int watch_pages(const char* block, uint64_t bytes);
/* Returns the number of whole pages of the block that are present, and that nobody wrote since the watch began. */
uint64_t untouched_pages(const char* block, uint64_t bytes);
