#pragma once

/* The block that the supervisor shares with the process of one episode: the episode's limits, the record of its calls,
 * its finding, and its counters. The block is a mapped file, so that the record survives a crash. A record for a replay
 * has the same form. */

#include <assert.h> /* NOLINT(modernize-deprecated-headers): for C, too */
#include <stddef.h> /* NOLINT(modernize-deprecated-headers) */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

enum op_kind {
  kOpCall = 1, /* calls the function of a row */
  kOpFree,
  kOpFill,   /* writes to a live block again */
  kOpVerify, /* checks a live block */
  kOpFork,
  kOpPause, /* n: microseconds */
  kOpTrim,
  kOpStart, /* n: the thread to start */
  kOpEnd,   /* n: the thread to end */
  kOpLimit, /* n: bytes of address space beyond those in use; 0 lifts the limit */
  kOpKinds,
};

/* The bytes of a block that the program writes. */
enum fill {
  kFillNone,
  kFillAll,
  kFillLastPage,
  kFillBytePerPage,
  kFillTail,   /* the last 32 bytes */
  kFillBut512, /* all but the first 512 bytes */
  kFillZeros,
  kFillUsable, /* everything up to malloc_usable_size */
  kFillFirst,  /* the first 64 bytes */
  kFillEnds,   /* the first and the last page */
  kFills,
};

enum finding {
  kNoFinding,
  kNotZero,
  kOverflowAccepted,
  kContentsChanged,
  kOverlap,
  kMisaligned,
  kUsableTooSmall,
  kNotKept, /* realloc lost bytes that both sizes have in common */
  kChildDied,
  kUsableTooLarge, /* malloc_usable_size reaches into another live block, or into no mapping */
  kFindings,
};

/* The kinds of episodes. */
enum episode_kind {
  kEpisodeClasses, /* only finds the functions and the size classes */
  kEpisodeMixed,   /* random operations on many live blocks */
  kEpisodeReuse,   /* short histories of one block: written, freed, an event, zeroed again */
  kEpisodeFree,    /* threads run at the same time and give blocks to one another */
  kEpisodeHuge,    /* blocks of more than 2 and 4 GiB */
  kEpisodePauses,  /* long pauses */
  kEpisodeKinds,
};

/* The events between a block's free and its next use. */
enum event { kEventPause, kEventTrim, kEventLimit, kEventFork, kEventThreadEnd, kEvents };

/* The progress of an episode's process. */
enum stage { kStageNone, kStageStarted, kStageFinished };

/* Rows of the standard functions, which have fixed numbers (standard_functions.h). */
enum {
  kRowMalloc,
  kRowCalloc,
  kRowRealloc,
  kRowReallocarray,
  kRowAligned,
  kRowPosix,
  kRowMemalign,
  kRowValloc,
  kRowPvalloc,
  kRowLastNew = kRowPvalloc + 4 /* the last form of operator new */
};

struct op {
  uint8_t kind;
  uint8_t thread;
  uint8_t fill;
  uint8_t lg;     /* log2 of the alignment; 0 if the call names no alignment */
  uint32_t id;    /* of the block that a call returns; the op's own number otherwise */
  uint32_t block; /* id of the block that the op uses */
  uint32_t row;
  uint64_t n;
  uint64_t m;
};

/* Returns the log2 of the alignment that a block must have. `lg` is 0 if its call named no alignment. */
static inline uint8_t required_alignment(uint8_t lg, uint64_t bytes) {
  if (lg != 0) return lg;
  return bytes >= 16 ? 4 : bytes >= 8 ? 3 : 0;
}

/* A finding. `op` is the operation that has it. */
struct found {
  struct op op;
  uint64_t bytes; /* of the block */
  uint64_t at;
  uint64_t detail;
};

enum {
  kMostTasks = 16,
  kMostSizes = 1024,
  kDecades = 12,
  kGenes = 6,
  kFeatures = 1 << 16,
  kMessage = 256,
  kHeadBytes = 65536
};

struct head {
  char magic[8];
  uint64_t seed;    /* of the episode's sequence */
  uint64_t episode; /* number */
  uint64_t capacity;
  uint64_t ops;      /* number in the record; atomic */
  uint64_t deadline; /* CLOCK_MONOTONIC, nanoseconds; 0: none */
  uint64_t most_bytes;
  uint32_t threads; /* most threads at a time */
  uint32_t threshold_count;
  uint32_t size_count; /* thresholds first, then size classes */
  uint32_t finding;    /* enum finding; claimed by the first thread that fails */
  uint64_t finding_op;
  int32_t tasks[kMostTasks]; /* thread ids of the kernel by thread number */
  int32_t child;             /* the child of fork, while the process waits for the child */
  uint32_t only_kind;        /* enum episode_kind of all episodes; 0: all kinds */
  uint64_t ignored;          /* bit set of findings that are not reported */
  uint32_t is_limited;       /* whether the address space is limited */
  uint32_t crashes_at_limit;
  uint64_t left_out[2]; /* bit set of rows that are not called */
  uint64_t missing[2];  /* bit set of rows that the allocator lacks */
  struct found found;
  uint32_t kind;  /* enum episode_kind */
  uint32_t stage; /* enum stage */
  uint64_t genes[kGenes];
  uint32_t watches_pages; /* whether freed pages are watched for writes */
  uint32_t why_unwatched; /* error number; 0 if pages can be watched */
  char message[kMessage]; /* the reason for giving up, or the path of the library under test */
  /* Counters. All are atomic. */
  uint64_t calls[kOpKinds];
  uint64_t checked_bytes;
  uint64_t written_bytes;
  uint64_t null_results;
  uint64_t callocs;
  uint64_t reused[2][kDecades];    /* callocs at the start of a freed block, by thread (main, other) and size decade */
  uint64_t reused_fill[kFills];    /* the same callocs by what the program had written to the freed block */
  uint64_t reused_event[kEvents];  /* the same callocs by the events since the free */
  uint64_t reused_other_thread;    /* the same callocs whose block another thread had freed */
  uint64_t reused_unpopulated;     /* pages of the same callocs that calloc left unpopulated */
  uint64_t reused_pages;           /* all pages of the same callocs that were looked up */
  uint64_t watched_pages;          /* pages of the same callocs that were watched from free to calloc */
  uint64_t untouched_pages;        /* watched pages that nobody wrote and that stayed populated */
  uint64_t by_nobody[kDecades];    /* callocs with untouched pages, by size decade */
  uint64_t feature_count;          /* features in `features` */
  uint8_t features[kFeatures / 8]; /* bit set of the features that the episodes reached (history.c) */
  uint64_t sizes[kMostSizes];
};

static_assert(sizeof(struct op) == 32, "a record is read by other programs");
static_assert(sizeof(struct head) <= kHeadBytes, "the operations follow the head");

#ifndef __cplusplus /* zerotax reads and writes records as files (../record_file.h). */
extern struct head* head;
extern struct op* ops;

/* Maps the shared block in the file `path` and creates the file if `capacity` is not 0. Returns its head. */
struct head* map_head(const char* path, uint64_t capacity);
/* Maps the shared block of an existing file for this process. */
void map_record(const char* path);
/* Appends to the record and gives the operation its id. Returns 0 if the record is full. */
int append(struct op* op);
static inline void count(uint64_t* counter, uint64_t more) { __atomic_fetch_add(counter, more, __ATOMIC_RELAXED); }
#endif
