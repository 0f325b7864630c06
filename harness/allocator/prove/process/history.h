#pragma once

/* Remembers the addresses of freed blocks, and counts the callocs that reuse memory. Notes features, which describe the
 * histories, sizes and events of an episode without a look into the allocator. */

#include "prove/process/execute.h"

void open_history(void);
void note_free(const struct block* block, unsigned thread);
void note_event(enum event event);
/* Counts a block that must be zero. Call this function before any code reads the block. */
void note_calloc(const struct block* block);
/* Notes a call of realloc or a similar function. */
void note_realloc(const struct block* old, const struct block* block);
