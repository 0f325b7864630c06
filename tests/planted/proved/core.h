#pragma once

/* A small, correct malloc family that keeps track of zeros, and skips what calloc need not clear. A planted allocator
   replaces one policy (a weak function of policies.c) by one that is wrong, or by one that only looks wrong.

   Blocks of up to kMostSmall bytes come from size classes. Each thread has a list per class, a central list refills the
   threads' lists, and threads carve new blocks from spans. Larger blocks have a mapping each, with the header on a page
   of its own. Freed mappings are kept for reuse, and purged when they are kKeptMs old. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kMostSmall = 32 << 10, kClasses = 48, kListed = 16, kBatch = 8, kKept = 32, kKeptMs = 10, kCaches = 256 };
enum { kSpan = 256 << 10, kHeader = 64, kPurgeInstead = 1 << 20, kLargeClass = 0xffff };

/* The header, directly before the bytes of a block. */
struct block {
  uint64_t stamp;     /* counts the blocks handed out; no code reads it */
  struct block* base; /* the block itself, or the block that contains an aligned block */
  struct block* next; /* in a list of free blocks */
  size_t capacity;    /* bytes */
  size_t asked;       /* bytes of the last request */
  size_t dirty;       /* all bytes from this offset on are known to be zero */
  uint64_t freed_ms;
  uint16_t class_index; /* kLargeClass for a mapping of its own */
  uint16_t owner;       /* the thread's cache that handed out the block */
  uint32_t flags;       /* for the planted allocators */
};

/* The free blocks of one thread, and the span that it carves. */
struct cache {
  struct block* lists[kClasses];
  unsigned counts[kClasses];
  char* span;
  char* carved;
  char* span_end;
  bool used;
};

static inline char* data_of(struct block* block) { return (char*)block + kHeader; }
static inline struct block* block_of(void* data) { return (struct block*)(void*)((char*)data - kHeader); }
static inline bool is_large(const struct block* block) { return block->class_index == kLargeClass; }
static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
size_t page(void);
static inline size_t page_floor(size_t bytes) { return bytes & ~(page() - 1); }
static inline size_t page_ceiling(size_t bytes) { return page_floor(bytes + page() - 1); }
uint64_t now_ms(void);
void lock(void);
void unlock(void);

/* small.c. The calling thread's cache is null after the thread's end, and if there are too many threads. */
extern struct cache caches[kCaches];
extern struct block* central[kClasses];
struct cache* own_cache(void);
bool has_cache(void);
uint16_t own_number(void);
size_t class_bytes(size_t index);
struct block* pop(struct block** list);
struct block* take_small(size_t bytes);
void push_central(struct block* block);
void keep_small(struct block* block);
void flush_cache(struct cache* cache);

/* large.c. `kept` needs the lock, and take_large and keep_large take it. */
extern struct block* kept[kKept];
extern size_t kept_count;
struct block* take_large(size_t bytes);
struct block* map_large(size_t bytes);
void unmap_large(struct block* block);
void keep_large(struct block* block);
/* Returns a kept block that fits, of at most `most` bytes, with the lock held, or NULL. */
struct block* take_kept_within(size_t bytes, size_t most);
/* Needs the lock, and room in `kept`. */
void add_kept(struct block* block);
void drop_kept(void);
bool return_pages(struct block* block, size_t keep);
bool resize_large(struct block* block, size_t bytes);

/* policies.c, and refill in small.c. Each policy is weak, and a planted allocator defines one or a few of them again.
 */
bool product(size_t count, size_t size, size_t* bytes);
/* Returns the number of bytes to reserve for a request. */
size_t needed(size_t bytes);
size_t class_for(size_t bytes);
/* Returns the value of `dirty` for a new block. */
size_t mark_of_new(size_t capacity);
size_t usable(const struct block* block);
/* Makes the first count * size bytes zero. */
void clear_block(struct block* block, size_t count, size_t size);
void clear_bytes(void* at, size_t bytes);
/* Called for each block that the program receives, and after a realloc in place. `given` is the aligned block within
   `block`, or `block` itself. */
void handed_out(struct block* block, struct block* given);
void freed(struct block* block, struct block* given);
void give_small(struct block* block);
void give_large(struct block* block);
struct block* take_kept(size_t bytes);
/* Purges whole pages of a kept block, except its first `keep` bytes. */
void purge(struct block* block, size_t keep);
/* Purges kept blocks that are kKeptMs old. The lock is held. */
void age(void);
size_t most_kept_bytes(void);
int trim(size_t pad);
void* map_pages(size_t bytes);
void unmap_pages(void* at, size_t bytes);
struct block* without_memory(size_t bytes);
/* Moves some blocks from the central list to a thread's. The lock is held. */
void refill(struct cache* cache, size_t class_index);
/* Changes the size without moving the block, or returns false. */
bool resize(struct block* block, size_t bytes);
void copy_common(void* to, struct block* from, size_t bytes);
void thread_ends(struct cache* cache);
void child_starts(void);
