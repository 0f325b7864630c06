#pragma once

/* Makes the sequence of an episode. The sequence depends on the seed, on the number of the episode, and on which calls
 * returned NULL, never on addresses. */

#include <stdint.h>

#include "prove/process/own.h"
#include "prove/process/profile.h"
#include "prove/process/record.h"

enum { kMostSteps = 48 };

/* A planned operation. `uses` is the step whose block the operation uses, or -1. */
struct step {
  struct op op;
  int uses;
  uint32_t made; /* the id of the block that the step made */
};

struct generator {
  const struct profile* profile;
  uint64_t random;
  uint64_t calls;
  uint64_t bytes; /* bytes that all calls asked for */
  uint64_t live_bytes;
  uint64_t paused; /* microseconds */
  uint32_t* live;  /* ids of blocks in order of allocation, except after frees in any order */
  struct step plan[kMostSteps];
  uint32_t live_count;
  uint32_t live_room;
  uint32_t thread;
  uint32_t started; /* bit set of threads */
  uint32_t forks;
  uint32_t drain_to;
  int is_draining;
  int is_growing;
  int is_limited;
  int steps;
  int step;      /* the next step */
  int performed; /* the step of the last operation, or -1 */
};

struct generator new_generator(const struct profile* profile, uint64_t seed);
/* Makes the next operation. Returns 0 at the end of the sequence. */
int next_op(struct generator* generator, struct op* op);
/* Enters the outcome of the operation. */
void settle(struct generator* generator, const struct op* op);
void adopt(struct generator* generator, uint32_t id);

/* The functions from which histories.c makes plans. */
uint64_t some_size(struct generator* generator);
/* The size that a reallocation asks for. */
uint64_t other_size(struct generator* generator, uint64_t bytes);
enum fill some_fill(struct generator* generator);
uint64_t pause_of(struct generator* generator);
/* Completes a call of the row op->row: sizes, alignment, and two factors. */
void complete_call(struct generator* generator, struct op* op, uint64_t size);
static inline uint64_t below(struct generator* generator, uint64_t limit) {
  return random_below(&generator->random, limit);
}
