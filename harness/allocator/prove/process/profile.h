#pragma once

/* The settings of one episode: which functions, sizes, fills and threads its sequence has. Each episode draws a few
 * functions, sizes and fills, because many sequences of few kinds of calls reach more than one sequence of all kinds
 * (swarm testing). Each group of settings is drawn from its own gene, so that one group can be changed alone. */

#include <stdint.h>

#include "prove/process/rows.h"

enum { kHugeEvery = 24 }; /* one episode in 24 has huge blocks */
enum { kPalette = 16, kMostThreads = 16, kTenThousand = 10000, kAlways = 16 };

enum free_order { kLastFirst, kFirstFirst, kAnyOrder };

enum gene { kGeneSizes, kGeneRows, kGeneFills, kGeneThreads, kGeneEvents, kGeneShape };

struct profile {
  uint64_t calls;
  uint64_t bytes; /* bytes that all calls together may return */
  uint64_t most_size;
  uint64_t most_live_bytes;
  uint64_t most_pause; /* microseconds */
  uint64_t all_pauses; /* microseconds in all, per thread */
  uint64_t palette[kPalette];
  enum episode_kind kind;
  uint32_t palette_count;
  uint32_t most_live;
  uint32_t row_weights[kMostRows];
  uint32_t row_weight; /* the sum of row_weights */
  uint32_t fill_weights[kFills];
  uint32_t fill_weight;
  uint32_t event_weights[kEvents];
  enum free_order order;
  uint32_t threads;
  int is_free_running; /* threads run at the same time */
  int is_huge;
  int keeps_to_palette; /* short histories use no other sizes */
  uint32_t gives;       /* chance of 16 that a free-running thread exchanges a block after an operation */
  int has_roles;        /* every other thread takes blocks and gives none */
  int only_takes;
  /* Chances in 10,000 per operation. */
  uint32_t switches;
  uint32_t starts;
  uint32_t forks;
  uint32_t pauses;
  uint32_t trims;
  uint32_t verifies;
  uint32_t refills;
  uint32_t limits;
  uint32_t drains;
  uint32_t overflows;
};

/* Draws the profile of an episode from the kind and the genes in its head. */
struct profile draw_profile(const struct head* of);
/* Draws a size up to `most`. */
uint64_t draw_size(uint64_t* random, uint64_t most);
/* Returns whether the machine has the memory for blocks of `bytes` bytes, and 2 GiB more. */
int has_room_for(uint64_t bytes);
/* Finds the sizes at which malloc_usable_size steps, up to 1 MiB, and appends them to the head's sizes. */
void probe_sizes(void);
