#pragma once

/* What the replay needs for itself: pages of a file in memory, which are no anonymous memory of the process, and their
 * faults, counted. */

#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* Bytes of a page of this machine. */
static inline uint64_t page_bytes(void) { return getauxval(AT_PAGESZ); }

/* Zeroed, and populated. Ends the process if there is none. */
void* own_memory(size_t bytes);
void own_memory_back(void* memory, size_t bytes);
uint64_t own_faults(void);
/* Called around stores and loads of the replay itself; `before` is what begin_own_faults returned. */
uint64_t begin_own_faults(void);
void end_own_faults(uint64_t before);
/* In a child of fork, which has taken none yet. */
void forget_own_faults(void);
