#pragma once

/* Runs the threads of an episode in one of two ways. Either one thread runs at a time, in the order of the source of
 * operations; or all threads run at the same time, each with its own generator. */

#include "prove/process/generate.h"
#include "prove/process/record.h"

/* A source of operations. `next` returns 0 at the end. `done` is called after each performed operation. */
struct source {
  int (*next)(struct op* op);
  void (*done)(const struct op* op);
};

/* Performs all operations of the source. An operation of a thread that does not exist runs on the thread of the
 * operation before it. */
void run_in_turns(const struct source* source);
/* Runs `threads` threads at the same time, several times, and records their operations. */
void run_freely(const struct profile* profile, uint64_t seed);
/* Returns whether the time of the episode is over. Reads the clock in one of 8 calls. */
int is_over(uint64_t calls);
