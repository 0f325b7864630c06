#pragma once

/* The bytes that the program writes to blocks, and their verification. A block's pattern depends on the block's key and
 * on the place within the block, and no byte of the pattern is zero. */

#include <stddef.h>
#include <stdint.h>

#include "prove/process/record.h"

enum { kAllRight = -1 };

/* The contents that a block must have. */
struct contents {
  uint32_t key;
  uint8_t fill;
  uint8_t zero; /* whether the bytes that the program did not write must be zero */
};

/* Writes to a block of `bytes` bytes. `usable` is at least `bytes`. */
void write_contents(char* block, uint64_t bytes, uint64_t usable, uint32_t key, enum fill fill);
/* Verifies the first `limit` bytes of a block of `bytes` bytes. Returns the offset of the first wrong byte, or
 * kAllRight. */
int64_t verify_contents(const char* block, uint64_t bytes, uint64_t limit, struct contents contents);
/* Returns the offset of the first byte of [from, to) that is not zero, or kAllRight. In ranges of 1 MiB and more, the
 * function reads only one in 16 unpopulated pages, because private anonymous memory without a page reads as zeros. */
int64_t first_nonzero(const char* block, uint64_t from, uint64_t to);
/* Returns the number of bytes in [from, to) that are not zero, up to 1 GiB. */
uint64_t nonzero_bytes(const char* block, uint64_t from, uint64_t to);
/* Returns the number of the block's whole pages, and in `populated` how many of them have a physical page. */
uint64_t whole_pages(const char* block, uint64_t bytes, uint64_t* populated);
/* Closes this process's page table, because a child of fork has a page table of its own. */
void forget_pagemap(void);
