/* A block of 8 to 32 KiB that came from calloc is still marked as zero when the program frees it. The allocator
   remembers that calloc cleared the block, and forgets that the program wrote to it afterwards. */
#include "core.h"

enum { kMalloced, kCalloced, kInCalloc };

void clear_block(struct block* block, size_t count, size_t size) {
  clear_bytes(data_of(block), smaller(block->dirty, count * size));
  block->flags = kInCalloc;
}

void handed_out(struct block* block, struct block* given) {
  (void)given;
  block->flags = block->flags == kInCalloc ? kCalloced : kMalloced;
  if (block->dirty < usable(block)) block->dirty = usable(block);
}

void freed(struct block* block, struct block* given) {
  (void)given;
  if (block->flags == kCalloced && block->capacity >= 8 << 10 && block->capacity <= kMostSmall) block->dirty = 0;
}
