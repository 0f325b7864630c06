#pragma once

/* The clock that an allocator reads during a call. This clock shows the time that had passed in the recorded program.
 * Thus the allocator purges as in the recorded run, whether the replay is faster or slower. */

#include <stdint.h>

/* Advances the time by units of 65,536 ns. */
void time_passed(uint64_t units);

/* Makes allocators see the recorded time instead of the real clock. Call this only if the recording has times. */
void follow_recorded_time(void);

/* These two functions enclose each allocator call of this thread. */
void begin_call(void);
void end_call(void);

/* Must be called at the start of the process. */
void begin_time(void);
