#pragma once

/* Sequences of calls, each named for the planted mistake that it shows. A sequence returns true if a promise was
   broken. */

#include <stdbool.h>
#include <stddef.h>

struct sequence {
  const char* name;
  bool (*broken)(void);
};

extern const struct sequence histories_and_sizes[];
extern const struct sequence threads_and_forks[];
extern const struct sequence other_paths[];

enum { kWritten = 0xAA, kTries = 8, kSmall = 3000, kLargeBytes = 200000, kMiB = 1 << 20 };

/* Calls malloc, and ends the process with status 3 if malloc fails. */
void* must_malloc(size_t bytes);
/* Calls malloc, and writes all bytes of the block. */
void* written(size_t bytes);
/* Keeps the compiler from removing calls and stores. */
void escape(void* block);
bool is_zero(const void* block, size_t bytes);
bool holds(const void* block, size_t bytes, int value);
/* Writes a block of this size, frees the block, and calls calloc(count, size). */
bool reuse(size_t bytes, size_t count, size_t size);
void sleep_ms(long ms);
/* Whether calloc returns a dirty block. The block is freed. */
bool calloc_is_dirty(size_t count, size_t size);
