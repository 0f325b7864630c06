#pragma once

/* The file that replay-calls reads: a checked recording, with slots in place of blocks. zerotax writes the file into a
 * private folder, so that only zerotax and replay-calls use it. A stream has the operations of one thread, in a linked
 * list of parts of the file. */

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): for C, too */

enum { kPreparedBlockBytes = 65536 };

/* Environment variable with the folder of prepared files, for recordings that are called as commands. The name of a
   prepared file is the DEVICE-INODE of the recording, in decimal. */
#define PREPARED_FOLDER_VARIABLE "ZEROTAX_PREPARED"

/* A pause is a kOpTime of at least this many units: 300 ms, the time after which a program counts as idle. If this
   environment variable exists, the replay waits in its last pause, so that its memory can be seen there. */
enum { kPauseUnits = 300000000 / 65536 };
#define WAIT_VARIABLE "ZEROTAX_REPLAY_WAITS"

struct prepared_head {
  uint64_t processes;
};
/* Description of one process. The file has an array of these after its head. */
struct prepared_process {
  uint64_t slots;
  uint64_t threads; /* offset of an array of uint64_t: for each stream, the offset of its first prepared_block */
  uint64_t thread_count;
  uint64_t image_zeroed; /* bytes of memory besides the process's blocks; 0 if it is the parent's memory */
  uint64_t image_copied;
  uint64_t timed;        /* 1 if the operations include times */
  uint64_t last_pause;   /* number of the last pause among all pauses, from 1; 0 if there is none */
  uint64_t free_running; /* 1 if each slot number is followed by the number of earlier operations on the slot */
};

struct prepared_block {
  uint64_t next; /* offset of the next prepared_block; 0 for the last */
  uint32_t bytes;
  uint32_t padding;
};

/* First byte of each operation. The numbers of the operation follow as LEB128. */
enum prepared_operation {
  kOpMalloc,  /* slot, bytes */
  kOpCalloc,  /* slot, bytes */
  kOpAligned, /* slot, bytes, binary logarithm of the alignment */
  kOpRealloc, /* slot, bytes */
  kOpFree,    /* slot */
  kOpTouch,   /* slot, bytes, number of ranges; for each range: pages skipped, pages */
  kOpTurn,    /* number of the turn to wait for */
  kOpPass,    /* gives the turn to the next thread */
  kOpStart,   /* thread */
  kOpEnd,     /* ends this thread; a thread without this operation stays until the process ends */
  kOpFork,    /* process */
  kOpSpawn,   /* process, to be started as a new program */
  kOpMap,     /* slot, bytes: anonymous memory */
  kOpUnmap,   /* slot, bytes */
  kOpReturn,  /* slot, first page, pages */
  kOpHuge,    /* slot, first page, pages */
  kOpTime     /* number of units of 65,536 ns that have passed for the program */
};
