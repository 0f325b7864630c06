#pragma once

/* Remembers where blocks were freed, counts the callocs that reuse memory, and notes features: what an episode reached,
 * seen from outside the allocator. */

#include "prove/process/execute.h"

void open_history(void);
void note_free(const struct block* block, unsigned thread);
void note_event(enum event event);
/* Counts a block that must be zero, before anything reads it. */
void note_calloc(const struct block* block);
/* Notes a call of realloc or a similar function. */
void note_realloc(const struct block* old, const struct block* block);
