/* The mark of fresh memory survives free for blocks of 16 MiB and more. mimalloc 1.8.2 lost the mark in this way: a
   second calloc of 100 MiB returned dirty bytes. */
#include "core.h"

void freed(struct block* block, struct block* given) {
  (void)given;
  if (block->capacity >= (size_t)16 << 20) block->dirty = 0;
}
