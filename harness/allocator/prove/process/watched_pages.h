#pragma once

/* Watches pages of freed blocks for writes, by userfaultfd's asynchronous write protection and PAGEMAP_SCAN (since
 * Linux 6.7). If a page that calloc returns stayed populated, and neither the allocator nor the kernel wrote to the
 * page, nobody zeroed the page. Registration only marks a mapping, and munmap, mremap and fork remove the mark. */

#include <stdint.h>

/* Enters in the head whether pages can be watched, or the error number. */
void open_watched_pages(void);
/* Ends the watch in a child of fork, because the inherited descriptors watch the parent's memory. */
void close_watched_pages(void);
/* Starts to watch the whole pages of a block. Returns 0 if the block has no whole page, or cannot be watched. */
int watch_pages(const char* block, uint64_t bytes);
/* Returns the number of whole pages of the block that are present, and that nobody wrote since the watch began. */
uint64_t untouched_pages(const char* block, uint64_t bytes);
