#pragma once

/* The order of calls between threads, as recorded. */

#include <stdatomic.h>
#include <stdint.h>

/* Threads besides the first that have calls left. */
extern atomic_uint threads_running;

void wait_for_turn(uint64_t turn);
void pass_turn(void);
void thread_is_done(void);
void wait_for_threads(void);
/* In a child of fork, which has one thread. */
void forget_threads(void);
