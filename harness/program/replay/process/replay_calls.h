#pragma once

/* Functions of image.c, turns.c and recorded_time.c. */

#include <stdatomic.h>
#include <stdint.h>

/* --- image.c: the memory that a program has besides its blocks, which is its own data, its libraries' data, and its
 * stack. */

/* Populates anonymous memory and copies of a file's pages. Sizes are in bytes. The memory that this process already has
   is subtracted. */
void populate_image(uint64_t zeroed, uint64_t copied);

/* --- turns.c: the recorded order of calls between threads. */

/* Number of threads, besides the first thread, that still have calls to repeat. */
extern atomic_uint threads_running;

void wait_for_turn(uint64_t turn);
void pass_turn(void);
void thread_is_done(void);
void wait_for_threads(void);
/* Resets the state in a child of fork. A child has one thread. */
void forget_threads(void);

/* --- recorded_time.c: the clock that an allocator reads during a call. This clock shows the time that had passed in
 * the recorded program. Thus the allocator purges as in the recorded run, whether the replay is faster or slower. */

/* Advances the time by units of 65,536 ns. */
void time_passed(uint64_t units);

/* Waits in the pause of this number (struct prepared_process). */
void wait_in_pause(uint64_t number);

/* Makes allocators see the recorded time instead of the real clock. Call this only if the recording has times. */
void follow_recorded_time(void);

/* These two functions enclose each allocator call of this thread. */
void begin_call(void);
void end_call(void);

/* Must be called at the start of the process. */
void begin_time(void);
