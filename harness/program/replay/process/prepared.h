#pragma once

/* The file that replay-calls reads: checked, with slots in place of blocks. The command writes it in a private folder,
 * and nobody else reads it. A stream is what one thread does: a list of blocks of the file, and in them operations. */

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): for C, too */

enum { kPreparedBlockBytes = 65536 };

/* The folder of the prepared files of recordings that are called as commands: DEVICE-INODE of each, in decimal. */
#define PREPARED_FOLDER_VARIABLE "ZEROTAX_PREPARED"

struct prepared_head {
  uint64_t processes;
};
/* Follow: one for each process. */
struct prepared_process {
  uint64_t slots;
  uint64_t threads; /* offset of their streams: uint64_t each, the offset of their first block */
  uint64_t thread_count;
  uint64_t image_zeroed; /* bytes that the program has beside its blocks; 0: as its parent */
  uint64_t image_copied;
  uint64_t timed;        /* 1: operations contain times */
  uint64_t free_running; /* 1: a slot is followed by the number of operations on it before */
};

struct prepared_block {
  uint64_t next; /* offset; 0: none */
  uint32_t bytes;
  uint32_t padding;
};

/* First bytes of operations. Numbers follow as LEB128. */
enum prepared_operation {
  kOpMalloc,  /* slot, bytes */
  kOpCalloc,  /* slot, bytes */
  kOpAligned, /* slot, bytes, binary logarithm of the alignment */
  kOpRealloc, /* slot, bytes */
  kOpFree,    /* slot */
  kOpTouch,   /* slot, number of ranges; of each: pages between, pages */
  kOpTurn,    /* number: wait for it */
  kOpPass,    /* the next one's turn */
  kOpStart,   /* thread */
  kOpEnd,     /* this thread ends; without it, it stays until the process ends */
  kOpFork,    /* process */
  kOpSpawn,   /* process, as a program of its own */
  kOpMap,     /* slot, bytes: anonymous memory */
  kOpUnmap,   /* slot, bytes */
  kOpReturn,  /* slot, first page, pages */
  kOpHuge,    /* slot, first page, pages */
  kOpTime     /* units of 65,536 ns that have passed for the program */
};
