#pragma once

/* The recorded order of calls between threads. */

#include <stdatomic.h>
#include <stdint.h>

/* Number of threads, besides the first thread, that still have calls to repeat. */
extern atomic_uint threads_running;

void wait_for_turn(uint64_t turn);
void pass_turn(void);
void thread_is_done(void);
void wait_for_threads(void);
/* Resets the state in a child of fork. A child has one thread. */
void forget_threads(void);
