#pragma once

/* Performs the operations of a record and checks all promises. */

#include <stdint.h>

#include "prove/process/contents.h"
#include "prove/process/record.h"

struct row;

struct block {
  char* at;
  uint64_t bytes;
  uint64_t written_to; /* no byte at or behind this offset was written, also not before a reallocation */
  struct contents contents;
  uint32_t row;
  uint8_t lg;
  uint8_t is_live;
  uint8_t keeps_zero_promise; /* allocated by a function that promises zeros, and not written beyond its bytes */
  uint8_t thread;             /* the thread that allocated the block */
};

/* Blocks by id. */
extern struct block* blocks;

/* Maps memory for ids below `ids` and for `most_live` live blocks. */
void open_blocks(uint64_t ids, uint64_t most_live);
/* Performs a call, free, fill, verification, fork, pause, trim or limit. Enters a finding in the head and then ends the
 * process with status 1. */
void perform(const struct op* op);
/* Makes `perform` also print a finding. */
void print_findings(void);
/* Verifies all live blocks. */
void verify_all(void);
/* Returns whether the product of n and m is too large for a size_t. */
int overflows(const struct row* row, const struct op* op);
extern const char* const finding_names[kFindings];
/* Prints the head's finding. */
void print_finding(const struct head* of);
