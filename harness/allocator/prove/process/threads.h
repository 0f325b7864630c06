#pragma once

/* The threads of an episode, in two ways: one at a time, in the order that the source of operations names; or all at
 * the same time, each with a generator of its own. */

#include "prove/process/generate.h"
#include "prove/process/record.h"

/* A source of operations. `next` returns 0 at the end. `done` is called after each performed operation. */
struct source {
  int (*next)(struct op* op);
  void (*done)(const struct op* op);
};

/* Performs all operations of the source. An operation of a thread that does not exist runs on the present thread. */
void run_in_turns(const struct source* source);
/* Runs `threads` threads at the same time, several times, and records their operations. */
void run_freely(const struct profile* profile, uint64_t seed);
/* Returns whether the time of the episode is over. Looks at the clock in one of 8 calls. */
int is_over(uint64_t calls);
