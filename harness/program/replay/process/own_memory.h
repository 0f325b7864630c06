#pragma once

/* Memory that a program which calls an allocator under test needs for itself, and the count of its page faults. */

#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* Returns the page size of this machine in bytes. */
static inline uint64_t page_bytes(void) { return getauxval(AT_PAGESZ); }

/* Returns zeroed, populated memory, or ends the process. The memory is a mapped file, so that it does not count as
 * anonymous memory of the process. A child of fork shares the memory. */
void* own_memory(size_t bytes);
/* Returns zeroed memory that is populated by its first use, or NULL. A child of fork has a copy. */
void* own_private_memory(size_t bytes);
void own_memory_back(void* memory, size_t bytes);
uint64_t own_faults(void);
/* These two functions enclose the replay's own loads and stores. `before` is the value that begin_own_faults returned.
 */
uint64_t begin_own_faults(void);
void end_own_faults(uint64_t before);
/* Resets the count in a child of fork. */
void forget_own_faults(void);
